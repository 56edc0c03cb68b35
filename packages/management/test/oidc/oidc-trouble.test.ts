import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { call } from '../../../server/test/call.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { listen } from '../../../server/test/node/listening.ts'
import { oidcProvider } from '../../src/oidc/oidc.ts'
import { CALLBACK_QUERY, identityProviderFor } from '../world/fake-identity-provider.ts'
import type { ManagedOptions } from '../world/managed-server.ts'
import { createManagedServer } from '../world/managed-server.ts'
import { World } from '../world/world.ts'
import { Browser, type Page } from './browser.ts'
import { ADMINISTRATOR, type OidcScene, openScene } from './oidc-scene.ts'
import { type Account, CLIENT } from './oidc-server.ts'

const ADA: Account = { sub: 'ada-there', email: 'ada@acme.test', email_verified: true }

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function openedScene(...parameters: Parameters<typeof openScene>): Promise<OidcScene> {
  const scene = await openScene(...parameters)
  open.push(scene)
  await scene.addMember('ada@acme.test', 'viewer')
  scene.provider.account = ADA
  return scene
}

function expectUnavailable({ status, headers, text }: Page, why = ''): void {
  const message = `The identity provider cannot be reached or returned an unexpected response${why}.`
  expect([status, JSON.parse(text)]).toEqual([503, { statusCode: 503, message, data: null }])
  expect(headers.get('location')).toBeNull()
  expect(headers.get('set-cookie')).toBeNull()
}

describe('a provider that is down', () => {
  it('Password log-ins work while the provider is down, and the provider is tried again later', async () => {
    const scene = await openedScene()
    const browser = new Browser()
    scene.provider.isDown = true
    expectUnavailable(await scene.logIn(browser))
    expect(scene.errors).toMatchObject([{ cause: { cause: expect.any(TypeError) } }])
    const body = ADMINISTRATOR
    expect((await browser.send('POST', `${scene.base}/auth/login`, { body })).status).toBe(200)
    scene.provider.isDown = false
    expect((await scene.logIn(browser, '?return_to=/flags/auth/me')).status).toBe(200)
  })

  it('A log-in that returns while the provider is down can be repeated', async () => {
    const scene = await openedScene()
    const browser = new Browser()
    const callback = await scene.goToProvider(browser)
    scene.provider.isDown = true
    for (let attempt = 0; attempt < 60; attempt += 1) {
      expectUnavailable(await browser.send('GET', callback))
    }
    expect(await scene.audit('user.login_failed')).toEqual([])
    scene.provider.isDown = false
    expect((await browser.send('GET', callback)).status).toBe(302)
  })
})

describe('a provider with invalid responses', () => {
  it('An ID token that was altered is refused', async () => {
    const scene = await openedScene({ provider: { conformIdTokenClaims: false } })
    scene.provider.forge = (answer) => {
      const { id_token, ...rest } = JSON.parse(answer)
      const [header, claims, signature] = id_token.split('.')
      const meant = JSON.parse(Buffer.from(claims, 'base64url').toString())
      const other = JSON.stringify({ ...meant, sub: 'root', email: ADMINISTRATOR.email })
      const forged = Buffer.from(other).toString('base64url')
      return JSON.stringify({ ...rest, id_token: `${header}.${forged}.${signature}` })
    }
    const page = await scene.logIn(new Browser())
    expect([page.status, page.headers.get('set-cookie')]).toEqual([401, null])
  })

  it.each([
    ['an error page', () => '<html>'],
    ['nothing', () => ''],
  ])('A log-in fails with 503 when the token endpoint returns %s', async (_, forge) => {
    const scene = await openedScene()
    scene.provider.forge = forge
    const page = await scene.logIn(new Browser())
    expectUnavailable(page)
  })

  it('A log-in fails with 503 and is logged when the provider refuses the client secret', async () => {
    const scene = await openedScene({ adapter: { clientSecret: 'another' } })
    expectUnavailable(await scene.logIn(new Browser()), ': invalid_client')
    expect(scene.errors).toMatchObject([
      { cause: { message: expect.stringContaining('invalid_client') } },
    ])
    expect(JSON.stringify(scene.errors)).not.toContain(CLIENT.clientSecret)
  })

  const document = (url: string, changes = {}) => ({
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    ...changes,
  })
  const begin = async (answer: (url: string) => RequestListener) => {
    const provider = await listen()
    open.push(provider)
    provider.server.on('request', answer(provider.url))
    const flags = createManagedServer({
      ...allInMemory(),
      publicUrl: 'http://flags.test',
      identityProvider: oidcProvider({ issuer: provider.url, ...CLIENT, allowHttp: true }),
    })
    open.push(flags)
    return (await call(flags, '/auth/oidc/start', { method: 'GET' })).status
  }
  const answering =
    (changes: object): ((url: string) => RequestListener) =>
    (url) =>
    (_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(document(url, changes)))

  it('A log-in fails with 503 when the metadata is incomplete or names another issuer', async () => {
    expect(await begin(answering({}))).toBe(302)
    expect(await begin(answering({ authorization_endpoint: undefined }))).toBe(503)
    expect(await begin(answering({ issuer: 'https://evil.test' }))).toBe(503)
    expect(await begin(() => (_, response) => response.writeHead(404).end())).toBe(503)
    expect(await begin(() => (_, response) => response.end('<html>'))).toBe(503)
  })
})

describe('the options for an identity provider', () => {
  const identityProvider = oidcProvider({ issuer: 'https://login.acme.test', ...CLIENT })
  const refusal = (options: ManagedOptions) => () => createManagedServer(options)

  it('An identity provider requires users and publicUrl, which must be an origin', () => {
    expect(refusal({ identityProvider })).toThrow(/^identityProvider requires publicUrl/)
    const publicUrl = 'https://flags.acme.test'
    expect(refusal({ identityProvider, publicUrl, users: false })).toThrow(
      /users must not be false/,
    )
    expect(refusal({ identityProvider, publicUrl })).not.toThrow()
    for (const wrong of [
      '',
      'flags.acme.test',
      'ftp://flags.acme.test',
      'https://',
      'https://flags.acme.test/flags',
      'https://flags.acme.test?x',
      'https://somebody@flags.acme.test',
      'https://flags.acme.test:99999',
    ]) {
      expect(refusal({ publicUrl: wrong })).toThrow(/^publicUrl must look like/)
    }
  })

  it('An issuer without TLS is refused unless allowHttp is set', () => {
    for (const issuer of ['http://login.acme.test', 'login.acme.test', '', 'file:///etc/passwd']) {
      expect(() => oidcProvider({ issuer, ...CLIENT })).toThrow(/^issuer must be an https URL/)
    }
    const issuer = 'http://login.acme.test'
    expect(() => oidcProvider({ issuer, ...CLIENT, allowHttp: true })).not.toThrow()
  })

  it('Cookies are Secure if publicUrl has the scheme https', async () => {
    const publicUrl = 'https://flags.acme.test/'
    const world = await World.create(undefined, {
      identityProvider: identityProviderFor('ada@acme.test'),
      publicUrl,
      basePath: '/flags',
    })
    const { id: orgId } = await world.management.createOrganization({ body: { name: 'Acme' } })
    const body = { email: 'ada@acme.test', role: 'viewer' } as const
    await world.management.addMember({ params: { orgId }, body })
    const begun = await world.call('GET', '/auth/oidc/start')
    const kept = begun.cookies[0] ?? ''
    expect(kept).toMatch(/; Path=\/flags\/auth\/oidc\/callback; .*; Secure$/)
    const redirectUri = encodeURIComponent(`${publicUrl}flags/auth/oidc/callback`)
    expect(begun.headers['Location']).toContain(redirectUri)
    const headers = { cookie: kept.split(';')[0] ?? '' }
    const callback = `/auth/oidc/callback?${CALLBACK_QUERY}`
    const { cookies } = await world.call('GET', callback, { headers })
    expect(cookies).toEqual([
      expect.stringMatching(/^ff_session=.*; Path=\/flags; .*; Secure$/),
      expect.stringMatching(/^ff_device_.*; Path=\/flags; .*; Secure$/),
    ])
  })

  it.each<[string, ManagedOptions]>([
    ['without a provider', {}],
    ['with publicUrl alone', { publicUrl: 'https://flags.acme.test' }],
    ['without users', { users: false }],
  ])('The paths of the provider do not exist %s', async (_, options) => {
    const flags = createManagedServer({ ...allInMemory(), ...options })
    open.push(flags)
    for (const path of ['/auth/oidc/start', '/auth/oidc/callback?code=x&state=y']) {
      const { status, body } = await call(flags, path, { method: 'GET' })
      const message = expect.stringMatching(/^OpenID Connect is not configured on this server; set/)
      expect([status, body]).toEqual([404, { statusCode: 404, message, data: null }])
    }
  })
})
