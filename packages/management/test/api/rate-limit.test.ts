import { memory, type RateLimiter } from '@ff/storage'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import { CredentialAttempts } from '../../src/authentication/credential-attempts.ts'
import { createManagement } from '../../src/node/node.ts'
import { cookieIn, LogInWorld, PASSWORD } from '../world/log-in-world.ts'
import { type Answer, type Call, type Tenant, World } from '../world/world.ts'

const MINUTE_MS = 60_000
const LIMIT = 20

const limitsOf = ({ headers }: Answer) =>
  ['Limit', 'Remaining', 'Reset'].map((name) => Number(headers[`X-RateLimit-${name}`]))

describe('The rate limit of management requests', () => {
  let world: World
  let tenant: Tenant

  beforeEach(async () => {
    world = await World.create(undefined, { managementRateLimit: LIMIT })
    tenant = await world.addTenant('Acme')
  })

  const read = (token: string, times = 1) =>
    Promise.all(
      Array.from({ length: times }, () =>
        world.call('GET', `/organizations/${tenant.orgId}`, { token }),
      ),
    )
  const passed = (answers: readonly Answer[]) =>
    answers.filter(({ status }) => status === 200).length

  it('The management rate limit is 600 per minute by default and must be a positive integer', async () => {
    const defaults = await World.create(undefined, { managementRateLimit: undefined as never })
    const mine = await defaults.addTenant('Mine')
    const path = `/organizations/${mine.orgId}`
    const { headers } = await defaults.call('GET', path, { token: mine.tokens.viewer })
    expect(headers['X-RateLimit-Limit']).toBe('600')
    for (const managementRateLimit of [0, -1, 1.5, Number.NaN]) {
      expect(() => createManagement({ managementRateLimit })).toThrow('managementRateLimit')
    }
  })

  it('Every response to an identified actor has rate limit headers, including refusals', async () => {
    const token = tenant.tokens.viewer
    const reset = Math.floor(world.clock.now() / MINUTE_MS) * 60 + 60
    const known = (await read(token))[0] as Answer
    expect(limitsOf(known).slice(0, 2)).toEqual([LIMIT, LIMIT - 1])
    expect(limitsOf(known)[2]).toBe(reset)
    const calls: (readonly [string, string, Call, number])[] = [
      ['GET', '/audit/export', { token }, 200],
      ['POST', '/organizations', { token, body: { name: 'New' } }, 403],
      ['GET', `/projects/${crypto.randomUUID()}`, { token }, 404],
      ['GET', '/audit/logs?limit=0', { token }, 400],
      ['PATCH', '/audit/logs', { token }, 405],
    ]
    for (const [index, [method, path, sent, status]] of calls.entries()) {
      const answer = await world.call(method, path, sent)
      expect([path, answer.status]).toEqual([path, status])
      expect(limitsOf(answer).slice(0, 2)).toEqual([LIMIT, LIMIT - 2 - index])
    }
  })

  it('Concurrent requests pass exactly up to the limit, and the next minute starts a new count', async () => {
    const token = tenant.tokens.viewer
    const answers = await read(token, LIMIT + 15)
    expect(passed(answers)).toBe(LIMIT)
    for (const refused of answers.filter(({ status }) => status !== 200)) {
      expect([refused.status, refused.headers['Retry-After'], limitsOf(refused)[1]]).toEqual([
        429,
        '60',
        0,
      ])
      expect(refused.message).toContain('access token')
    }
    await world.clock.advance(MINUTE_MS)
    expect(passed(await read(token, 2))).toBe(2)
  })

  it('Each token has its own rate limit, including tokens of the platform', async () => {
    const { viewer, editor, platform } = tenant.tokens
    for (const token of [viewer, editor, platform]) {
      expect(passed(await read(token, LIMIT + 1))).toBe(LIMIT)
    }
  })

  it('All sessions of a user share one rate limit', async () => {
    const logInWorld = await LogInWorld.create({ managementRateLimit: LIMIT })
    await logInWorld.add('ada@acme.test', 'viewer')
    const cookies = [1, 2].map(() => logInWorld.logIn('ada@acme.test', PASSWORD).then(cookieIn))
    const statuses: number[] = []
    for (const cookie of await Promise.all(cookies)) {
      for (let n = 0; n < LIMIT; n += 1) {
        const answer = await logInWorld.world.call('GET', '/auth/me', { headers: { cookie } })
        statuses.push(answer.status)
      }
    }
    expect(statuses.filter((status) => status === 200).length).toBe(LIMIT)
  })

  it('Processes share the rate limit through the rate limiter', async () => {
    const { rateLimiter } = memory() as { rateLimiter: RateLimiter }
    const options = { managementRateLimit: LIMIT, rateLimiter }
    const one = await World.create(undefined, options)
    const { orgId, tokens } = await one.addTenant('Acme')
    const other = await World.create(one.storage, options)
    const path = `/organizations/${orgId}`
    const calls = Array.from({ length: 2 * LIMIT }, (_, n) =>
      (n % 2 === 0 ? one : other).call('GET', path, { token: tokens.viewer }),
    )
    expect(passed(await Promise.all(calls))).toBe(LIMIT)
  })

  it('In-process calls do not count for the rate limit', async () => {
    const lease = vi.fn<RateLimiter['lease']>(async (_key, _window, amount) => amount)
    const options = { managementRateLimit: LIMIT, rateLimiter: { lease } }
    const { tokens, orgId } = await (await World.create(undefined, options)).addTenant('Acme')
    expect(lease).not.toHaveBeenCalled()
    expect([tokens.viewer, orgId]).not.toContain('')
  })
})

describe('Requests with wrong credentials', () => {
  const MOST = 300
  let world: World
  let tenant: Tenant
  let lookUps: number

  beforeEach(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
    lookUps = 0
    const list = world.storage.list.bind(world.storage)
    world.storage.list = ((kind, query) => {
      if (kind === 'accessToken' || kind === 'loginSession') lookUps += 1
      return list(kind, query)
    }) as typeof list
  })

  const unknown = (n: number) => `ffat_${String(n).padStart(64, '0')}`
  const ask = (call: Call) => world.call('GET', `/organizations/${tenant.orgId}`, call)
  const flood = async (address: string, from = 0, times = MOST) => {
    const calls = Array.from({ length: times }, (_, n) =>
      ask({ token: unknown(from + n), address }),
    )
    return (await Promise.all(calls)).map(({ status }) => status)
  }

  it('After 300 wrong credentials from one address in 15 minutes, further credentials are refused without a look-up', async () => {
    const statuses = await flood('192.0.2.7', 0, 2 * MOST)
    expect(statuses.filter((status) => status === 401).length).toBe(MOST)
    expect(statuses.filter((status) => status === 429).length).toBe(MOST)
    expect(lookUps).toBe(MOST)
    const refused = await ask({ token: unknown(1), address: '192.0.2.7' })
    expect([refused.status, refused.headers['Retry-After']]).toEqual([429, '900'])
    expect((await ask({ token: unknown(1), address: '192.0.2.8' })).status).toBe(401)
    await world.clock.advance(15 * MINUTE_MS)
    expect((await ask({ token: unknown(1), address: '192.0.2.7' })).status).toBe(401)
  })

  it('Wrong session cookies count like wrong bearer tokens', async () => {
    const cookies = Array.from({ length: MOST + 50 }, (_, n) => {
      const cookie = `ff_session=ffs_${String(n).padStart(64, '0')}`
      return ask({ headers: { cookie }, address: '192.0.2.7' })
    })
    const statuses = (await Promise.all(cookies)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401).length).toBe(MOST)
    expect(lookUps).toBe(MOST)
    expect((await ask({ token: unknown(1), address: '192.0.2.7' })).status).toBe(429)
  })

  it('Credentials that were accepted before are not blocked by wrong credentials from the same address', async () => {
    const token = tenant.tokens.viewer
    expect((await ask({ token, address: '192.0.2.7' })).status).toBe(200)
    await flood('192.0.2.7')
    for (let n = 0; n < 3; n += 1) {
      expect((await ask({ token, address: '192.0.2.7' })).status).toBe(200)
    }
    const { token: chosen } = await world.management.createAccessToken({
      params: { orgId: tenant.orgId },
      body: { name: 'chosen', role: 'viewer' },
      token: 'a token that is not random'.replaceAll(' ', '-'),
    })
    expect((await ask({ token: chosen, address: '192.0.2.7' })).status).toBe(429)
    expect((await ask({ token: chosen, address: '192.0.2.8' })).status).toBe(200)
    expect((await ask({ token: chosen, address: '192.0.2.7' })).status).toBe(200)
  })

  it('Credentials that a process with the same secret key has issued are not blocked at any process', async () => {
    const secretKey = '0f'.repeat(32)
    const issuer = await World.create(world.storage, { secretKey })
    const other = await World.create(world.storage, { secretKey })
    for (const { call } of [issuer, other].map((each) => ({ call: each.call.bind(each) }))) {
      const wrong = Array.from({ length: MOST + 1 }, (_, n) =>
        call('GET', '/organizations', { token: unknown(n), address: '192.0.2.7' }),
      )
      expect((await Promise.all(wrong)).at(-1)?.status).toBe(429)
    }
    const { token } = await issuer.management.createAccessToken({
      params: { orgId: tenant.orgId },
      body: { name: 'new', role: 'viewer' },
    })
    const path = `/organizations/${tenant.orgId}`
    expect((await issuer.call('GET', path, { token, address: '192.0.2.7' })).status).toBe(200)
    expect((await other.call('GET', path, { token, address: '192.0.2.7' })).status).toBe(200)
  })

  it('An issued credential that has expired is looked up once, and then counts as wrong', async () => {
    const expiresAt = new Date(world.clock.now() + 1000).toISOString()
    const { token } = await world.management.createAccessToken({
      params: { orgId: tenant.orgId },
      body: { name: 'brief', role: 'viewer', expiresAt },
    })
    await world.clock.advance(1000)
    await flood('192.0.2.7')
    lookUps = 0
    const statuses: number[] = []
    for (let n = 0; n < 3; n += 1)
      statuses.push((await ask({ token, address: '192.0.2.7' })).status)
    expect([statuses, lookUps]).toEqual([[401, 429, 429], 1])
  })

  it('Credentials that were accepted before count as wrong when they are no longer accepted', async () => {
    const token = tenant.tokens.viewer
    expect((await ask({ token, address: '192.0.2.7' })).status).toBe(200)
    const { data } = await world.storage.list('accessToken', { where: { orgId: tenant.orgId } })
    const { id } = data.find(({ role }) => role === 'viewer') ?? { id: '' }
    await world.storage.update('accessToken', id, { deletedAt: '2030-01-01T00:00:00.000Z' })
    await flood('192.0.2.7', 0, MOST - 1)
    const statuses: number[] = []
    for (let n = 0; n < 3; n += 1)
      statuses.push((await ask({ token, address: '192.0.2.7' })).status)
    expect(statuses).toEqual([401, 401, 429])
  })

  it('Requests without credentials are not counted and cost no look-up', async () => {
    for (let n = 0; n < MOST + 10; n += 1) {
      expect((await ask({ address: '192.0.2.7' })).status).toBe(401)
    }
    expect(lookUps).toBe(0)
    expect((await ask({ token: unknown(1), address: '192.0.2.7' })).status).toBe(401)
  })

  it('Credentials are not counted if their look-up fails', async () => {
    const issued = { isIssued: async () => false }
    const attempts = new CredentialAttempts({ clock: new FakeClock(), trustProxy: false, issued })
    const client = { header: () => undefined, address: '192.0.2.7', isEncrypted: false }
    for (let n = 0; n < MOST + 10; n += 1) {
      const find = () => Promise.reject(new Error('the store is away'))
      await expect(attempts.find(client, unknown(n), find)).rejects.toThrow('the store is away')
    }
    expect(await attempts.find(client, 'right', async () => 'found')).toBe('found')
  })

  it('Wrong credentials count for the address that a trusted proxy names', async () => {
    world = await World.create(world.storage, { trustProxy: true })
    const from = (address: string) =>
      ask({ token: unknown(1), headers: { 'x-forwarded-for': address } })
    for (let n = 0; n < MOST; n += 1) await from('198.51.100.1')
    expect((await from('198.51.100.1')).status).toBe(429)
    expect((await from('198.51.100.2')).status).toBe(401)
  })

  it('Wrong credentials are also limited for GET /metrics', async () => {
    await flood('192.0.2.7')
    const answer = await world.call('GET', '/metrics', { token: unknown(1), address: '192.0.2.7' })
    expect(answer.status).toBe(429)
  })
})
