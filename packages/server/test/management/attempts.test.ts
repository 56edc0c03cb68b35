import { beforeEach, describe, expect, it } from 'vitest'
import type { PasswordHasher } from '../../src/access/passwords.ts'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'
import { PASSWORD, People } from './people.ts'
import type { Json } from './world.ts'

const MINUTE_MS = 60_000
const WRONG = 'a wrong password'

let people: People
let verified: number

beforeEach(async () => {
  const real = new ScryptPasswordHasher({ log2N: 4, r: 8, p: 1 })
  verified = 0
  const passwordHasher: PasswordHasher = {
    hash: (password) => real.hash(password),
    verify: (password, hash) => {
      verified += 1
      return real.verify(password, hash)
    },
  }
  people = await People.create({ passwordHasher })
  await people.add('ada@acme.test', 'viewer')
})

const tryFrom = async (address: string, email: string, password = WRONG, headers = {}) =>
  people.logIn(email, password, headers, { address })

describe('attempts to log in', () => {
  it('are ten for an account in a quarter of an hour, from wherever they come', async () => {
    for (let n = 0; n < 10; n += 1) {
      expect((await tryFrom(`192.0.2.${n}`, 'ada@acme.test')).status).toBe(401)
    }
    await people.world.clock.advance(5 * MINUTE_MS)
    const refused = await tryFrom('192.0.2.99', 'ADA@acme.test', PASSWORD)
    expect(refused).toMatchObject({ status: 429, data: { seconds: 600 } })
    expect(refused.headers['Retry-After']).toBe('600')
    expect(verified).toBe(10)
    await people.world.clock.advance(10 * MINUTE_MS)
    expect((await tryFrom('192.0.2.99', 'ada@acme.test', PASSWORD)).status).toBe(200)
  })

  it('are counted for an address that nobody has just like for one that is known', async () => {
    const statusesFor = async (email: string) => {
      const statuses: number[] = []
      for (let n = 0; n < 12; n += 1) statuses.push((await tryFrom(`192.0.2.${n}`, email)).status)
      return statuses
    }
    const known = await statusesFor('ada@acme.test')
    expect(known.slice(-3)).toEqual([401, 429, 429])
    expect(await statusesFor('nobody@acme.test')).toEqual(known)
  })

  it('are fifty for a client, whatever accounts it tries', async () => {
    for (let n = 0; n < 50; n += 1) {
      expect((await tryFrom('192.0.2.1', `user${n}@acme.test`)).status).toBe(401)
    }
    expect((await tryFrom('192.0.2.1', 'ada@acme.test', PASSWORD)).status).toBe(429)
    const believed = { 'x-forwarded-for': '192.0.2.2' }
    expect((await tryFrom('192.0.2.1', 'ada@acme.test', PASSWORD, believed)).status).toBe(429)
    expect((await tryFrom('192.0.2.2', 'ada@acme.test', PASSWORD)).status).toBe(200)
  })

  it('are counted for the last address that a trusted proxy names', async () => {
    await people.restart({ trustProxy: true })
    const from = (forwarded: string) =>
      tryFrom('192.0.2.1', `user${Math.random()}@acme.test`, WRONG, {
        'x-forwarded-for': forwarded,
      })
    for (let n = 0; n < 50; n += 1) {
      expect((await from(`10.0.0.${n}, 198.51.100.7`)).status).toBe(401)
    }
    expect((await from('10.9.9.9, 198.51.100.7')).status).toBe(429)
    expect((await from('198.51.100.7, 198.51.100.8')).status).toBe(401)
  })

  it('that succeed do not count', async () => {
    for (let n = 0; n < 60; n += 1) {
      expect((await tryFrom('192.0.2.1', 'ada@acme.test', PASSWORD)).status).toBe(200)
    }
  })

  it('at once are as many as one after another', async () => {
    const answers = await Promise.all(
      Array.from({ length: 15 }, (_, n) => tryFrom(`192.0.2.${n}`, 'ada@acme.test')),
    )
    const refused = answers.filter(({ status }) => status === 429).length
    expect([refused, verified]).toEqual([5, 10])
  })

  it('are limited where the old password is asked for, too', async () => {
    const ada = people.as(await people.logIn('ada@acme.test'))
    const body = { old_password: WRONG, new_password: 'a new password of hers' }
    for (let n = 0; n < 10; n += 1) {
      expect((await ada.send('POST', '/auth/password', body)).status).toBe(403)
    }
    const right = { ...body, old_password: PASSWORD }
    expect((await ada.send('POST', '/auth/password', right)).status).toBe(429)
  })
})

describe('the audit log of refused log-ins', () => {
  it('has one entry for each at first, then one a minute that counts the rest', async () => {
    for (let n = 0; n < 100; n += 1) await tryFrom(`192.0.2.${n}`, `user${n}@acme.test`)
    expect(await people.audit('user.login_failed')).toHaveLength(60)
    for (let n = 0; n < 60; n += 1) await tryFrom('198.51.100.1', `more${n}@acme.test`)
    expect(await people.audit('user.login_limited')).toEqual([])
    await people.world.clock.advance(MINUTE_MS)
    await expect.poll(() => people.audit('user.login_limited')).toHaveLength(1)
    const [counted] = await people.audit('user.login_limited')
    expect(counted).toEqual({
      payload: { before: null, after: { attempts: 100, since: '2030-01-01T00:00:00.000Z' } },
      org_id: '',
      actor: { id: '', email: '', name: '', role: '' },
    })
    await people.world.clock.advance(10 * MINUTE_MS)
    expect(await people.audit('user.login_limited')).toHaveLength(1)
    await tryFrom('192.0.2.1', 'user@acme.test')
    expect(await people.audit('user.login_failed')).toHaveLength(61)
    const verified = await people.world.call('GET', '/audit/verify', {
      token: people.tenant.tokens.platform,
    })
    expect(verified.data.valid).toBe(true)
  })

  it('loses no count when the server closes', async () => {
    for (let n = 0; n < 12; n += 1) await tryFrom(`192.0.2.${n}`, 'ada@acme.test')
    await people.services.logins.close()
    const [counted] = await people.audit('user.login_limited')
    expect((counted as Json).payload.after.attempts).toBe(2)
    expect(people.world.clock.timers).toBeLessThanOrEqual(1)
  })
})
