import type { Storage } from '@ff/storage'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CALLBACK_QUERY, identityProviderFor } from '../world/fake-identity-provider.ts'
import { repeating, stores } from '../world/stores.ts'
import { World } from '../world/world.ts'

/** Logs in with an identity of the provider. Returns the status of the response. */
async function logInAs(storage: Storage, email: string, subject: string): Promise<number> {
  const identityProvider = identityProviderFor(email, subject)
  const world = await World.create(storage, { identityProvider, publicUrl: 'http://flags.test' })
  const begun = await world.call('GET', '/auth/oidc/start')
  const headers = { cookie: begun.cookies[0]?.split(';')[0] ?? '' }
  const callback = `/auth/oidc/callback?${CALLBACK_QUERY}`
  return (await world.call('GET', callback, { headers })).status
}

describe.each(stores)('identities in %s', (_, open) => {
  async function scene() {
    const { storage, clean } = open()
    onTestFinished(async () => {
      await storage.close()
      clean()
    })
    const { management } = await World.create(storage)
    const { id: orgId } = await management.createOrganization({ body: { name: 'Acme' } })
    const body = { email: 'ada@acme.test', role: 'viewer' } as const
    const { userId } = await management.addMember({ params: { orgId }, body })
    return { storage, userId }
  }

  it('An identity is linked to one user, and a user to one identity of a provider', async () => {
    const { storage, userId } = await scene()
    expect(await logInAs(storage, 'ada@acme.test', 'ada')).toBe(302)
    expect(await logInAs(storage, 'ada@acme.test', 'another')).toBe(401)
    expect(await logInAs(storage, 'elsewhere@acme.test', 'ada')).toBe(302)
    const { data } = await storage.list('identity', {})
    expect(data).toMatchObject([{ userId, issuer: 'https://login.test', subject: 'ada' }])
  })

  it('Only one of several identities that claim an address concurrently is linked', async () => {
    const { storage, userId } = await scene()
    const subjects = ['a', 'b', 'c', 'a', 'b', 'c']
    const statuses = await Promise.all(
      subjects.map((subject) => logInAs(storage, 'ada@acme.test', subject)),
    )
    const { data } = await storage.list('identity', {})
    expect(data).toMatchObject([{ userId }])
    const expected = subjects.map((subject) => (subject === data[0]?.subject ? 302 : 401))
    expect(statuses).toEqual(expected)
  })

  it('An identity whose subject is longer than OpenID Connect permits, or contains NUL, is refused', async () => {
    const { storage } = await scene()
    const subject = '漢'.repeat(255)
    for (const refused of [`${subject}字`, 'a\0b', '']) {
      expect(await logInAs(storage, 'ada@acme.test', refused)).toBe(401)
    }
    expect(await logInAs(storage, 'ada\0@acme.test', 'ada')).toBe(401)
    expect(await logInAs(storage, 'ada@acme.test', subject)).toBe(302)
    expect((await storage.list('identity', {})).data).toMatchObject([{ subject }])
  })

  it('An identity is not linked to a user whose last membership ends during the log-in', async () => {
    const { storage, userId } = await scene()
    const { data: members } = await storage.list('member', { where: { userId } })
    const interrupted = repeating(storage, async (lock) => {
      if (lock !== 'identities') return
      const { management } = await World.create(storage)
      for (const { orgId } of members) {
        await management.removeMember({ params: { orgId, userId } })
      }
    })
    expect(await logInAs(interrupted, 'ada@acme.test', 'ada')).toBe(401)
    expect((await storage.list('identity', {})).data).toEqual([])
    expect(await logInAs(storage, 'ada@acme.test', 'ada')).toBe(401)
  })
})
