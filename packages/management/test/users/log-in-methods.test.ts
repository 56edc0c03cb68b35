import { describe, expect, it } from 'vitest'
import { oidcProvider } from '../../src/oidc/oidc.ts'
import { identityProviderFor } from '../world/fake-identity-provider.ts'
import { createManagedServer, type ManagedOptions } from '../world/managed-server.ts'
import { World } from '../world/world.ts'

const CLIENT = { clientId: 'flags', clientSecret: 'a secret' }
const ISSUER = 'https://login.acme.test:8443/realms/acme'
const publicUrl = 'https://flags.acme.test'

async function methodsWith(options: ManagedOptions) {
  const world = await World.create(undefined, options)
  return world.call('GET', '/auth/methods')
}

describe('GET /auth/methods', () => {
  it('The log-in methods can be read without credentials', async () => {
    const { status, data } = await methodsWith({})
    expect([status, data]).toEqual([200, { password: true, oidc: null }])
  })

  it('The log-in methods contain the display name of the identity provider, and nothing else of it', async () => {
    const answer = await methodsWith({
      identityProvider: identityProviderFor('a@b.test'),
      publicUrl,
    })
    expect(answer.data).toEqual({ password: true, oidc: { name: 'Keycloak' } })
    const identityProvider = oidcProvider({ issuer: ISSUER, ...CLIENT, name: 'Acme ID' })
    const named = await methodsWith({ identityProvider, publicUrl })
    expect(named.data).toEqual({ password: true, oidc: { name: 'Acme ID' } })
  })

  it('The name of an OpenID Connect provider is by default the host of its issuer', async () => {
    const identityProvider = oidcProvider({ issuer: ISSUER, ...CLIENT })
    const { data } = await methodsWith({ identityProvider, publicUrl })
    expect(data.oidc).toEqual({ name: 'login.acme.test:8443' })
  })

  it('The path does not exist if users is false', async () => {
    const { status, data } = await methodsWith({ users: false })
    expect([status, data]).toEqual([404, null])
  })

  it.each(['', ' ', 'a\nb', 'x'.repeat(257), undefined])(
    'An identity provider with the name %j is refused',
    (name) => {
      const identityProvider = { ...identityProviderFor('a@b.test'), name: name as string }
      expect(() => createManagedServer({ identityProvider, publicUrl })).toThrow(
        /^identityProvider.name must be/,
      )
    },
  )
})
