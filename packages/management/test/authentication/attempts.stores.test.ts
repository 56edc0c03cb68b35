import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'
import type { PasswordHasher } from '../../src/ports/password-hasher.ts'
import { deviceCookieIn, LogInWorld, PASSWORD } from '../world/log-in-world.ts'
import { stores } from '../world/stores.ts'
import type { Json } from '../world/world.ts'

const MINUTE_MS = 60_000
const WRONG = 'a wrong password'
const OFFICE = '192.0.2.1'

describe.each(stores)('Attempts to log in, in %s', (_name, open) => {
  let logInWorld: LogInWorld
  let verified: number
  /** A promise that `verify` awaits, if it is set. */
  let gate: Promise<void> | undefined
  let clean: () => void

  beforeEach(async () => {
    const real = new ScryptPasswordHasher({ log2N: 4, r: 8, p: 1 })
    verified = 0
    gate = undefined
    const passwordHasher: PasswordHasher = {
      hash: (password) => real.hash(password),
      verify: async (password, hash) => {
        verified += 1
        await gate
        return real.verify(password, hash)
      },
    }
    const opened = open()
    clean = opened.clean
    logInWorld = await LogInWorld.create({ storage: opened.storage, passwordHasher })
    await logInWorld.add('ada@acme.test', 'viewer')
  })

  afterEach(async () => {
    await logInWorld.world.stop()
    await logInWorld.world.storage.close()
    clean()
  })

  const tryFrom = async (address: string, email: string, password = WRONG, headers = {}) =>
    logInWorld.logIn(email, password, headers, { address })
  const statusFrom = async (...attempt: Parameters<typeof tryFrom>) =>
    (await tryFrom(...attempt)).status
  /** Returns the headers of a browser with which the account has logged in before. */
  const knownDevice = async (email = 'ada@acme.test') => {
    const answer = await tryFrom('203.0.113.1', email, PASSWORD)
    return { cookie: deviceCookieIn(answer) }
  }
  const network = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`
  /** Sends wrong passwords from different networks, for one account or for several accounts. */
  const failFrom = async (networks: number, each: number, emailOf: (n: number) => string) => {
    for (let n = 0; n < networks * each; n += 1) {
      expect(await statusFrom(network(n % networks), emailOf(n))).toBe(401)
    }
  }

  it('After ten wrong passwords, the account is refused in this network for 15 minutes', async () => {
    for (let n = 0; n < 10; n += 1) expect(await statusFrom(OFFICE, 'ada@acme.test')).toBe(401)
    await logInWorld.world.clock.advance(5 * MINUTE_MS)
    const refused = await tryFrom(OFFICE, 'ADA@acme.test', PASSWORD)
    expect(refused).toMatchObject({ status: 429, data: { seconds: 600 } })
    expect(refused.headers['Retry-After']).toBe('600')
    expect(verified).toBe(10)
    await logInWorld.world.clock.advance(10 * MINUTE_MS)
    expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD)).toBe(200)
  })

  it('Ten wrong passwords from one network do not block the account in another network', async () => {
    for (let n = 0; n < 11; n += 1) await tryFrom(OFFICE, 'ada@acme.test')
    expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD)).toBe(429)
    expect(await statusFrom('198.51.100.1', 'ada@acme.test', PASSWORD)).toBe(200)
  })

  it('Ten wrong passwords do not block a known device of the account in the same network', async () => {
    const known = await knownDevice()
    for (let n = 0; n < 11; n += 1) await tryFrom(OFFICE, 'ada@acme.test')
    expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD)).toBe(429)
    expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD, known)).toBe(200)
  })

  it('Attempts for an unknown e-mail address are limited like those for a known one', async () => {
    const statusesFor = async (email: string) => {
      const statuses: number[] = []
      for (let n = 0; n < 12; n += 1) statuses.push(await statusFrom(OFFICE, email))
      return statuses
    }
    const known = await statusesFor('ada@acme.test')
    expect(known.slice(-3)).toEqual([401, 429, 429])
    expect(await statusesFor('nobody@acme.test')).toEqual(known)
  })

  it('After fifty wrong passwords for any accounts, unknown devices of the network are refused', async () => {
    const known = await knownDevice()
    for (let n = 0; n < 50; n += 1) {
      expect(await statusFrom(OFFICE, `user${n}@acme.test`)).toBe(401)
    }
    expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD)).toBe(429)
    const forwarded = { 'x-forwarded-for': '192.0.2.2' }
    expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD, forwarded)).toBe(429)
    expect(await statusFrom('192.0.2.2', 'ada@acme.test', PASSWORD)).toBe(200)
    expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD, known)).toBe(200)
  })

  it('Refused attempts do not count for the network', async () => {
    for (let n = 0; n < 60; n += 1) await tryFrom(OFFICE, 'ada@acme.test')
    expect(await statusFrom(OFFICE, 'bob@acme.test')).toBe(401)
  })

  it('Attempts count for the last network that a trusted proxy names', async () => {
    await logInWorld.restart({ trustProxy: true })
    const from = (forwarded: string) =>
      statusFrom(OFFICE, `user${Math.random()}@acme.test`, WRONG, { 'x-forwarded-for': forwarded })
    for (let n = 0; n < 50; n += 1) expect(await from(`10.0.0.${n}, 198.51.100.7`)).toBe(401)
    expect(await from('10.9.9.9, 198.51.100.7')).toBe(429)
    expect(await from('198.51.100.7, 198.51.100.8')).toBe(401)
  })

  it('Correct passwords do not count, on unknown and on known devices', async () => {
    const known = await knownDevice()
    for (let n = 0; n < 60; n += 1) {
      expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD)).toBe(200)
      expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD, known)).toBe(200)
    }
  })

  it('A known device has its own limit of ten wrong passwords', async () => {
    const [known, other] = [await knownDevice(), await knownDevice()]
    for (let n = 0; n < 10; n += 1) {
      expect(await statusFrom(OFFICE, 'ada@acme.test', WRONG, known)).toBe(401)
    }
    verified = 0
    expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD, known)).toBe(429)
    expect(await statusFrom('192.0.2.2', 'ada@acme.test', PASSWORD, known)).toBe(429)
    expect(verified).toBe(0)
    expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD, other)).toBe(200)
    for (let n = 0; n < 10; n += 1) expect(await statusFrom(OFFICE, 'ada@acme.test')).toBe(401)
    expect(await statusFrom(OFFICE, 'ada@acme.test')).toBe(429)
  })

  it('The limit of a known device is the same for concurrent and for consecutive attempts', async () => {
    const known = await knownDevice()
    verified = 0
    const statuses = await Promise.all(
      Array.from({ length: 15 }, () => statusFrom(OFFICE, 'ada@acme.test', WRONG, known)),
    )
    expect([statuses.filter((status) => status === 429).length, verified]).toEqual([5, 10])
  })

  it('The old password is limited like a log-in when a user changes the password', async () => {
    const session = await logInWorld.logIn('ada@acme.test')
    const ada = logInWorld.as(session)
    const body = { old_password: WRONG, new_password: 'a new password of hers' }
    for (let n = 0; n < 10; n += 1) {
      expect((await ada.send('POST', '/auth/password', body)).status).toBe(403)
    }
    const right = { ...body, old_password: PASSWORD }
    expect((await ada.send('POST', '/auth/password', right)).status).toBe(429)
  })

  it('A flood from one network blocks neither known devices nor other networks', async () => {
    const known = await knownDevice()
    const emailOf = (n: number) => (n % 2 === 0 ? 'ada@acme.test' : `user${n}@acme.test`)
    verified = 0
    const flood = Promise.all(
      Array.from({ length: 1000 }, (_, n) => statusFrom(OFFICE, emailOf(n))),
    )
    expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD, known)).toBe(200)
    expect(await statusFrom('198.51.100.1', 'ada@acme.test', PASSWORD)).toBe(200)
    const statuses = [...(await flood)]
    for (let n = 0; n < 100; n += 1) statuses.push(await statusFrom(OFFICE, emailOf(n)))
    expect([...new Set(statuses)].toSorted()).toEqual([401, 429])
    expect(verified).toBe(2 + 50)
    expect(await statusFrom(OFFICE, 'ada@acme.test', PASSWORD, known)).toBe(200)
    expect(await statusFrom('198.51.100.1', 'ada@acme.test', PASSWORD)).toBe(200)
  })

  it('A distributed flood can try 100 wrong passwords per account, and known devices can still log in', async () => {
    const known = await knownDevice()
    await failFrom(10, 10, () => 'ada@acme.test')
    verified = 0
    expect(await statusFrom('198.51.100.1', 'ada@acme.test', PASSWORD)).toBe(429)
    expect(verified).toBe(0)
    expect(await statusFrom('198.51.100.1', 'ada@acme.test', PASSWORD, known)).toBe(200)
    expect(await statusFrom('198.51.100.1', 'bob@acme.test')).toBe(401)
    await logInWorld.world.clock.advance(15 * MINUTE_MS)
    expect(await statusFrom('198.51.100.1', 'ada@acme.test', PASSWORD)).toBe(200)
  })

  it('A distributed flood can try 3,000 wrong passwords in total, and known devices can still log in', async () => {
    const known = await knownDevice()
    await failFrom(60, 50, (n) => `user${n}@acme.test`)
    verified = 0
    expect(await statusFrom('198.51.100.1', 'ada@acme.test', PASSWORD)).toBe(429)
    expect(verified).toBe(0)
    expect(await statusFrom('198.51.100.1', 'ada@acme.test', PASSWORD, known)).toBe(200)
  })

  it('At most eight log-in attempts from unknown devices run concurrently, in addition to known devices', async () => {
    const known = await knownDevice()
    verified = 0
    let release = () => {}
    gate = new Promise((resolve) => {
      release = resolve
    })
    const busy: number[] = []
    const attempts = Array.from({ length: 30 }, async (_, n) => {
      const answer = await tryFrom(network(n % 3), `user${n}@acme.test`)
      if (answer.status === 429) busy.push(answer.data.seconds)
      return answer.status
    })
    await expect.poll(() => busy).toEqual(Array(22).fill(2))
    const owner = statusFrom(network(0), 'ada@acme.test', PASSWORD, known)
    await expect.poll(() => verified).toBe(9)
    release()
    expect(await owner).toBe(200)
    expect((await Promise.all(attempts)).filter((status) => status === 401)).toHaveLength(8)
  })

  it('At most four log-in attempts from one network run concurrently', async () => {
    verified = 0
    let release = () => {}
    gate = new Promise((resolve) => {
      release = resolve
    })
    const attempts = Array.from({ length: 10 }, (_, n) => statusFrom(OFFICE, `u${n}@acme.test`))
    await expect.poll(() => verified).toBe(4)
    const other = statusFrom('198.51.100.1', 'ada@acme.test', PASSWORD)
    await expect.poll(() => verified).toBe(5)
    release()
    expect(await other).toBe(200)
    const statuses = await Promise.all(attempts)
    expect(statuses.filter((status) => status === 429)).toHaveLength(6)
  })

  it('Refused log-ins have 60 audit entries per minute, and one entry counts the rest', async () => {
    for (let n = 0; n < 100; n += 1) await tryFrom(`192.0.2.${n}`, `user${n}@acme.test`)
    expect(await logInWorld.audit('user.login_failed')).toHaveLength(60)
    for (let n = 0; n < 60; n += 1) await tryFrom('198.51.100.1', `more${n}@acme.test`)
    expect(await logInWorld.audit('user.login_limited')).toEqual([])
    await logInWorld.world.clock.advance(MINUTE_MS)
    await expect.poll(() => logInWorld.audit('user.login_limited')).toHaveLength(1)
    const [counted] = await logInWorld.audit('user.login_limited')
    expect(counted).toEqual({
      payload: { before: null, after: { attempts: 100, since: '2030-01-01T00:00:00.000Z' } },
      org_id: '',
      actor: { id: '', email: '', name: '', role: '' },
    })
    await logInWorld.world.clock.advance(10 * MINUTE_MS)
    expect(await logInWorld.audit('user.login_limited')).toHaveLength(1)
    await tryFrom('192.0.2.1', 'user@acme.test')
    expect(await logInWorld.audit('user.login_failed')).toHaveLength(61)
    const token = logInWorld.tenant.tokens.platform
    expect((await logInWorld.world.call('GET', '/audit/verify', { token })).data.valid).toBe(true)
  })

  it('The count of refused log-ins is written when the server closes', async () => {
    for (let n = 0; n < 12; n += 1) await tryFrom(OFFICE, 'ada@acme.test')
    await logInWorld.world.stop()
    const [counted] = await logInWorld.audit('user.login_limited')
    expect((counted as Json).payload.after.attempts).toBe(2)
    expect(logInWorld.world.clock.timers).toBeLessThanOrEqual(1)
  })
})
