import { memory, type Storage } from '@ff/storage'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../server/src/runtime/logger.ts'
import {
  newRedisOptions,
  openRedis,
  openRedisClient,
  startRedis,
} from '../../../storage/test/redis-store.ts'
import { LoginAudit } from '../../src/authentication/login-audit.ts'
import { repeating } from '../world/stores.ts'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

/** Counts the reads of audit entries of a store. */
function counting(storage: Storage) {
  const reads = { entries: 0 }
  const list: Storage['list'] = (kind, query) => {
    if (kind === 'auditEvent') reads.entries += 1
    return storage.list(kind, query)
  }
  return { storage: { ...storage, list }, reads }
}

/** Creates a world with an organization, whose recent events are in a Redis server. */
async function scene(options = newRedisOptions()) {
  const { recentEvents } = openRedis(options)
  const { storage, reads } = counting(repeating(memory().storage))
  const world = await World.create(storage, { recentEvents })
  const tenant = await world.addTenant('Acme')
  const { clock } = world
  const logins = new LoginAudit({ storage, recentEvents, clock, logger: silentLogger })
  onTestFinished(() => logins.close())
  const from = async (source: string, query: string): Promise<Json> => {
    const address = `/audit/logs?${query}&source=${source}`
    return (await world.call('GET', address, { token: tenant.tokens.owner })).data
  }
  /** Asserts that the answers equal those of the store. Returns the number of reads in the store. */
  const compare = async () => {
    const before = reads.entries
    const found = await from('redis', 'limit=100')
    const count = reads.entries - before
    expect(found).toEqual(await from('database', 'limit=100'))
    expect(found.meta.total).toBeGreaterThan(0)
    return count
  }
  return { world, tenant, logins, compare }
}

let flags = 0
async function change(world: World, tenant: Tenant): Promise<void> {
  flags += 1
  const body = { key: `flag-${flags}`, type: 'boolean' }
  const { status } = await world.call('POST', addressesOf(tenant).flags, {
    token: tenant.tokens.editor,
    body,
  })
  expect(status).toBe(201)
}

function logIn(logins: LoginAudit, orgId: string): Promise<void> {
  const fields = { email: 'someone@acme.test', method: 'password', reason: 'wrong password' }
  const actor = { id: '', email: '', name: '', role: 'viewer', orgId } as const
  return logins.record({ type: 'user.login_failed', fields, actor, orgId } as never)
}

describe.skipIf(inject('redisUrl') === '')('recent audit events in Redis', () => {
  it('The source redis returns the entries of the store, and reads no entries from the store', async () => {
    const { world, tenant, logins, compare } = await scene()
    await logIn(logins, tenant.orgId)
    await compare()
    for (let n = 0; n < 5; n += 1) {
      await change(world, tenant)
      await logIn(logins, tenant.orgId)
      await expect.poll(compare).toBe(0)
    }
  })

  it('A refused change is in no answer, and the entries of other organizations are not either', async () => {
    const { world, tenant, compare } = await scene()
    const other = await world.addTenant('Globex')
    await change(world, tenant)
    await change(world, other)
    const body = { key: 'flag-0', type: 'boolean', variations: 'none' }
    const { status } = await world.call('POST', addressesOf(tenant).flags, {
      token: tenant.tokens.editor,
      body,
    })
    expect(status).toBe(400)
    await expect.poll(compare).toBe(0)
  })

  it('After Redis has lost its data, or has entries that the store does not have, the store answers and fills Redis', async () => {
    const options = newRedisOptions()
    const { world, tenant, compare } = await scene(options)
    const admin = openRedisClient()
    await change(world, tenant)
    await expect.poll(compare).toBe(0)
    const [list = ''] = await admin.keys(`${options.prefix}:*:audit:{changes:${tenant.orgId}}`)
    const spoil: readonly (() => Promise<unknown>)[] = [
      () => admin.del(list),
      () => admin.lpop(list),
      () => admin.lpush(list, 'strange\n1\n{"id":"strange"}'),
      () => admin.lset(list, 1, 'strange\n1\n{"id'),
    ]
    for (const damage of spoil) {
      await damage()
      // The server remembers the entries of an unchanged log.
      expect(await compare()).toBe(0)
      await change(world, tenant)
      expect(await compare()).toBe(1)
      await expect.poll(compare).toBe(0)
    }
  })
})

describe.skipIf(!inject('hasRedisServer'))('recent audit events without Redis', () => {
  it('While Redis is stopped or suspended, the source redis returns the entries of the store, and afterwards all of them', async () => {
    const server = await startRedis()
    const { world, tenant, compare } = await scene({ url: server.url })
    await change(world, tenant)
    await expect.poll(compare).toBe(0)
    for (const [end, begin] of [
      [() => server.stop(), () => server.restart()],
      [async () => server.suspend(), async () => server.resume()],
    ] as const) {
      await end()
      for (let n = 0; n < 3; n += 1) {
        await change(world, tenant)
        expect(await compare()).toBeGreaterThan(0)
      }
      await begin()
      await expect.poll(compare).toBe(0)
    }
  })
})
