import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memory, type Storage } from '@ff/storage'
import { describe, expect, it, onTestFinished } from 'vitest'
import { breakable } from '../../../server/test/capabilities.ts'
import { openMigratedSqlite } from '../../../storage/test/migrated-file.ts'
import { type LoginAttempt, LoginAudit } from '../../src/authentication/login-audit.ts'
import { addressesOf, type Json, World } from '../world/world.ts'

const ANONYMOUS = { id: '', email: '', name: '', role: '' }
const ADA = { id: 'ada', email: 'ada@acme.test', name: 'Ada', role: 'admin' }

const FLOOD = 2000
/** The number of entries of the organization, its project and four tokens. */
const BEFORE = 6

const refused = (orgId: string, email = 'mallory@evil.test'): LoginAttempt => ({
  type: 'user.login_failed',
  fields: { email, method: 'password', reason: 'unknown' },
  actor: ANONYMOUS,
  orgId,
})

const accepted = (orgId: string): LoginAttempt => ({
  type: 'user.login_success',
  fields: { email: ADA.email, method: 'password' },
  actor: ADA,
  orgId,
})

const stores: readonly [string, () => Storage][] = [
  ['memory', () => memory().storage],
  [
    'SQLite',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'ff-logins-'))
      const storage = openMigratedSqlite(join(folder, 'flags.db'))
      onTestFinished(async () => {
        await storage.close()
        rmSync(folder, { recursive: true })
      })
      return storage
    },
  ],
]

describe.each(stores)('Log-ins in %s', (_name, open) => {
  async function scene() {
    const store = observed(open())
    const world = await World.create(store.storage)
    const tenant = await world.addTenant('Acme')
    const logins = new LoginAudit(world.services)
    const read = async (path: string): Promise<Json> =>
      (await world.call('GET', path, { token: tenant.tokens.viewer })).data
    const createFlag = async (key: string) => {
      const body = { key, type: 'boolean' }
      const token = tenant.tokens.editor
      const { status } = await world.call('POST', addressesOf(tenant).flags, { token, body })
      expect(status).toBe(201)
    }
    return { world, tenant, logins, read, createFlag, store }
  }

  it('Log-ins are entries of a separate chain', async () => {
    const { tenant, logins, read, createFlag } = await scene()
    await logins.record(accepted(tenant.orgId))
    await createFlag('a')
    await logins.record(refused(tenant.orgId))
    const { data } = await read('/audit/logs')
    expect(data.length).toBe(BEFORE + 3)
    const [second, first] = data.filter(({ id }: Json) => id.startsWith('logins:'))
    expect(first).toMatchObject({
      id: `logins:${tenant.orgId}:000000000001`,
      eventType: 'user.login_success',
      payload: { before: null, after: { email: ADA.email, method: 'password' } },
      stream_id: 'user:ada',
      org_id: tenant.orgId,
      project_id: '',
      actor_id: 'ada',
      actor: ADA,
      sequence: 1,
      previous_hash: '',
    })
    expect(second).toMatchObject({ sequence: 2, previous_hash: first.hash, stream_id: 'user:' })
    expect(await read('/audit/verify')).toMatchObject({ valid: true, entries: BEFORE + 3 })
  })

  it('Log-ins of unknown users belong to the installation', async () => {
    const { world, tenant, logins, read } = await scene()
    await logins.record(refused(''))
    expect((await read('/audit/logs')).meta.total).toBe(BEFORE)
    const all = await world.call('GET', '/audit/logs?event_type=user.login_failed', {
      token: tenant.tokens.platform,
    })
    expect(idsOf(all.data.data)).toEqual(['logins:platform:000000000001'])
  })

  it('A flood of log-ins does not delay changes, displace them, or break a chain', async () => {
    const { tenant, logins, read, createFlag, store } = await scene()
    let written = 0
    const flood = Array.from({ length: FLOOD }, () =>
      logins.record(refused(tenant.orgId)).then(() => {
        written += 1
      }),
    )
    await createFlag('flag-1')
    expect(written).toBeLessThan(FLOOD)
    for (let n = 2; n <= 5; n += 1) await createFlag(`flag-${n}`)
    await Promise.all(flood)
    // A change waits for at most one transaction of log-ins, which writes at most 50 of them.
    expect(Math.max(...store.delays)).toBeLessThanOrEqual(1)
    expect(store.begun()).toBeGreaterThanOrEqual(FLOOD / 50)
    expect(await read('/audit/verify')).toEqual({
      valid: true,
      entries: BEFORE + 5 + FLOOD,
      first_broken: null,
    })
    const recent = await read('/audit/logs?source=redis&event_type=flag.created')
    expect(recent.meta.total).toBe(5)
    expect((await read('/audit/logs?source=redis')).meta.total).toBe(1000 + BEFORE + 5)
    const all = await read('/audit/logs?event_type=user.login_failed&limit=1')
    expect(all.meta).toEqual({ total: FLOOD, page: 1, pageCount: FLOOD })
    expect(all.data[0].sequence).toBe(FLOOD)
  })

  it('Log-ins of several organizations are written to their own chains in the order of arrival', async () => {
    const { world, tenant, logins, read } = await scene()
    const other = await world.addTenant('Globex')
    const orgIds = Array.from({ length: 200 }, (_, n) => (n % 3 === 0 ? other : tenant).orgId)
    const attempts = orgIds.map((orgId, n) => refused(orgId, `user-${n}@evil.test`))
    await Promise.all(attempts.map((attempt) => logins.record(attempt)))
    const { data } = await read(
      '/audit/logs?event_type=user.login_failed&sort=created_at:asc&limit=100',
    )
    const own = attempts.filter(({ orgId }) => orgId === tenant.orgId).slice(0, 100)
    expect(data.map(({ payload }: Json) => payload.after.email)).toEqual(
      own.map(({ fields }) => fields.email),
    )
    const all = await world.call('GET', '/audit/verify', { token: tenant.tokens.platform })
    expect(all.data).toMatchObject({ valid: true, entries: 2 * BEFORE + 2 + 200 })
  })
})

it('Log-ins are rejected while the store is unavailable, and a later log-in is written again', async () => {
  const { storage, ...store } = breakable(memory().storage)
  const world = await World.create(storage)
  const logins = new LoginAudit(world.services)
  store.break()
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => logins.record(refused(''))))
  expect(outcomes.map(({ status }) => status)).toEqual(Array(3).fill('rejected'))
  store.repair()
  await logins.record(refused(''))
  expect((await world.audit()).length).toBe(1)
})

it('A name that is not an e-mail address is not stored, because users type passwords there', async () => {
  const world = await World.create()
  await new LoginAudit(world.services).record(refused('', 'correct horse battery staple'))
  const [entry] = await world.audit()
  expect(entry?.payload['after']).toEqual({ email: '', method: 'password', reason: 'unknown' })
})

const idsOf = (list: readonly Json[]) => list.map(({ id }) => id)

/**
 * Wraps a store. `delays` lists, for each change, the number of transactions of log-ins that began
 * between the call and the beginning of its own transaction.
 */
function observed(storage: Storage) {
  let begun = 0
  const delays: number[] = []
  const transaction: Storage['transaction'] = (lock, work) => {
    const before = begun
    return storage.transaction(lock, (session) => {
      if (lock.startsWith('logins:')) begun += 1
      else delays.push(begun - before)
      return work(session)
    })
  }
  const proxy = new Proxy(storage, {
    get(target, name) {
      if (name === 'transaction') return transaction
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { storage: proxy, delays, begun: () => begun }
}
