import { setImmediate as nextTurn } from 'node:timers/promises'
import { memory, type Storage } from '@ff/storage'
import { postgres } from '@ff/storage/postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../server/src/runtime/logger.ts'
import { breakable } from '../../../server/test/capabilities.ts'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import { reservePostgresSchema } from '../../../storage/test/postgres-schema.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'
import { SYSTEM_ACTOR } from '../world/world.ts'

const SECOND = 1000

/**
 * The turns of the event loop for which the store reads scheduled changes, more than the instances
 * need to begin.
 */
const READ_TURNS = 2000

/** Waits for a number of turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn()
}

/** Counts the transactions of several stores. */
class TransactionCounter {
  count = 0

  /**
   * Wraps a store that several servers share, so that none of them closes it. Scheduled changes are
   * read slowly, so that all instances can find a change before one of them applies it.
   */
  wrap(storage: Storage): Storage {
    return {
      ...storage,
      list: async (kind, query) => {
        const page = await storage.list(kind, query)
        if (kind === 'scheduledChange') await turns(READ_TURNS)
        return page
      },
      transaction: (lock, work) => {
        this.count += 1
        return storage.transaction(lock, work)
      },
      close: async () => undefined,
    }
  }
}

/** Starts one server for each store, all with one clock. They are closed after the test. */
async function startServers(clock: FakeClock, storages: readonly Storage[]) {
  const { changeFeed } = memory()
  const options = { changeFeed, clock, logger: silentLogger, users: false } as const
  const servers = storages.map((storage) => createManagedServer({ ...options, storage }))
  onTestFinished(async () => {
    for (const server of servers) await server.close()
  })
  for (const server of servers) await server.start()
  return servers
}

/** Creates a flag that is switched off after a time, and returns functions that read it. */
async function scheduleChange(server: ManagedServer | undefined, applyAt: number) {
  if (server === undefined) throw new Error('A server is required.')
  const management = server.as(SYSTEM_ACTOR)
  const organization = await management.createOrganization({ body: { name: 'Acme' } })
  const project = await management.createProject({
    params: { orgId: organization.id },
    body: { key: 'shop' },
  })
  const [environment] = project.environments
  if (environment === undefined) throw new Error('The project must have environments.')
  const body = { key: 'banner', type: 'boolean' } as const
  const flag = await management.createFlag({ params: { projectId: project.id }, body })
  const ids = { projectId: project.id, environmentId: environment.id }
  const params = { ...ids, flagId: flag.id }
  await management.createScheduledChange({
    params,
    body: {
      applyAt: new Date(applyAt).toISOString(),
      operation: 'updateFlagState',
      body: { is_active: false },
    },
  })
  return {
    environmentId: environment.id,
    statusOf: async () => (await management.listScheduledChanges({ params })).data[0]?.status,
  }
}

describe('scheduled changes with several instances', () => {
  it('Of 20 instances with one store, one applies a scheduled change, in at most two transactions', async () => {
    const clock = new FakeClock()
    const shared = memory().storage
    const transactions = new TransactionCounter()
    const storage = transactions.wrap(shared)
    const servers = await startServers(
      clock,
      Array.from({ length: 20 }, () => storage),
    )
    const { environmentId, statusOf } = await scheduleChange(servers[7], clock.now() + 3 * SECOND)
    const { version } = await shared.loadChanges(environmentId, 0)
    transactions.count = 0
    clock.set(clock.now() + 3 * SECOND)
    await clock.advance(SECOND)
    await expect.poll(statusOf).toBe('applied')
    await turns(2 * READ_TURNS)
    await clock.advance(SECOND)
    expect((await shared.loadChanges(environmentId, 0)).version).toBe(version + 1)
    expect(transactions.count).toBeGreaterThan(0)
    expect(transactions.count).toBeLessThanOrEqual(2)
  })

  it('A scheduled change is applied within seconds after the instance with the lease is closed', async () => {
    const clock = new FakeClock()
    const storage = new TransactionCounter().wrap(memory().storage)
    const [first, second] = await startServers(clock, [storage, storage])
    const { statusOf } = await scheduleChange(second, clock.now() + SECOND)
    await first?.close()
    await clock.advance(7 * SECOND)
    await expect.poll(statusOf).toBe('applied')
  })

  it('Of the jobs, an idle instance without the lease only tries to claim it, every five seconds', async () => {
    const clock = new FakeClock()
    const shared = new TransactionCounter().wrap(memory().storage)
    const { storage, calls } = breakable(shared)
    await startServers(clock, [shared, storage])
    calls.length = 0
    await clock.advance(60 * SECOND)
    expect(calls.filter((name) => name === 'claimLease')).toHaveLength(12)
    // The other calls read the versions of flag sets and SDK keys.
    const others = new Set(calls.filter((name) => name !== 'claimLease'))
    expect([...others]).toEqual(['findVersions'])
  })

  it('Two instances with one PostgreSQL database apply a scheduled change once', async () => {
    const clock = new FakeClock()
    const schema = reservePostgresSchema()
    await schema.create()
    const stores = [1, 2].map(() => postgres({ url: schema.url, listenUrl: false }).storage)
    onTestFinished(async () => {
      for (const store of stores) await store.close()
      await schema.drop()
    })
    const transactions = new TransactionCounter()
    const servers = await startServers(
      clock,
      stores.map((store) => transactions.wrap(store)),
    )
    const { environmentId, statusOf } = await scheduleChange(servers[1], clock.now() + SECOND)
    const versionOf = async () => (await stores[0]?.loadChanges(environmentId, 0))?.version ?? 0
    const version = await versionOf()
    transactions.count = 0
    const advance = async () => {
      await clock.advance(SECOND)
      return statusOf()
    }
    await expect.poll(advance).toBe('applied')
    for (let second = 0; second < 4; second += 1) await advance()
    expect(await versionOf()).toBe(version + 1)
    expect(transactions.count).toBeLessThanOrEqual(2)
  })
})
