import { describe, expect, it } from 'vitest'
import { openPostgresProxy } from '../../test/postgres-proxy.ts'
import { readFromPostgres } from '../../test/postgres-schema.ts'
import { newPostgresSchema, openMigratedPostgres, openPostgres } from '../../test/postgres-store.ts'
import { expectRefusal } from '../contract/samples/fixtures.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { sample } from '../contract/samples/samples.ts'

describe('transactions on PostgreSQL', () => {
  it('Several instances can migrate an empty PostgreSQL database at the same time', async () => {
    const { url } = await newPostgresSchema()
    const instances = Array.from({ length: 4 }, () => openPostgres({ url }))
    await Promise.all(instances.map(({ storage }) => storage.migrate()))
    const flag = sample('flag')
    await instances[0]?.storage.insert('flag', flag)
    expect(await instances[3]?.storage.find('flag', flag.id)).toEqual(flag)
  })

  it('Transactions with different locks overlap', async () => {
    const { storage } = await openMigratedPostgres()
    let arrivals = 0
    let open: () => void = () => undefined
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const meet = (lock: string) =>
      storage.transaction(lock, async (tx) => {
        await tx.insert('flag', sample('flag'))
        arrivals += 1
        if (arrivals === 3) open()
        await opened
      })
    await Promise.all(['a', 'b', 'c'].map(meet))
    expect((await storage.list('flag', {})).total).toBe(3)
  })

  it('Transactions that wait for a lock of their process use no connection', async () => {
    const { storage } = await openMigratedPostgres({ writeConnections: 2, connectTimeoutMs: 2000 })
    const insert = (lock: string) =>
      storage.transaction(lock, (tx) => tx.insert('flag', sample('flag')))
    const { waiting } = await storage.transaction('busy', async (tx) => {
      await tx.find('flag', newId())
      const all = Promise.all(['busy', 'busy', 'busy'].map(insert))
      await insert('free')
      return { waiting: all }
    })
    await waiting
    expect((await storage.list('flag', {})).total).toBe(4)
  })

  it('The calls of one moment are sent to PostgreSQL together, and the first with the lock', async () => {
    const { url } = await openMigratedPostgres()
    const proxy = await openPostgresProxy(url)
    const { storage } = openPostgres({ url: proxy.url, listenUrl: false })
    await storage.migrate()
    const trips = proxy.watch()
    await storage.transaction('lock', async (tx) => {
      await Promise.all(Array.from({ length: 20 }, () => tx.find('flag', newId())))
      await tx.insert('flag', sample('flag'))
    })
    // The calls with the beginning, the insert, and the commit.
    expect(trips()).toBe(3)
  })

  it('The work of a transaction that a deadlock has ended runs again', async () => {
    const { storage } = await openMigratedPostgres()
    const [a, b] = [sample('flag'), sample('flag')]
    for (const flag of [a, b]) await storage.insert('flag', flag)
    let runs = 0
    let updates = 0
    let signalBoth = () => {}
    const bothHaveUpdated = new Promise<void>((resolve) => {
      signalBoth = resolve
    })
    const update = (lock: string, ids: readonly string[]) =>
      storage.transaction(lock, async (tx) => {
        runs += 1
        for (const id of ids) {
          await tx.update('flag', id, { name: lock })
          updates += 1
          if (updates === 2) signalBoth()
          await bothHaveUpdated
        }
      })
    await Promise.all([update('one', [a.id, b.id]), update('two', [b.id, a.id])])
    expect(runs).toBe(3)
    const names = (await storage.list('flag', {})).data.map(({ name }) => name)
    expect(new Set(names).size).toBe(1)
  })

  it('A value that PostgreSQL refuses leaves the transaction usable', async () => {
    const { storage } = await openMigratedPostgres()
    const [first, last] = [sample('flag'), sample('flag')]
    await storage.transaction('lock', async (tx) => {
      await tx.insert('flag', first)
      await expectRefusal(
        tx.insert('variation', sample('variation', { orderIndex: 0.5 })),
        'INVALID_REQUEST',
      )
      await expectRefusal(tx.update('flag', first.id, { revision: 1e300 }), 'INVALID_REQUEST')
      await expectRefusal(tx.update('flag', first.id, { name: 'a\0' }), 'INVALID_REQUEST')
      await tx.insert('flag', last)
    })
    expect((await storage.list('flag', {})).total).toBe(2)
    expect(await storage.find('flag', first.id)).toEqual(first)
    expect((await storage.list('variation', {})).total).toBe(0)
  })

  it('Concurrent calls of a transaction do not affect each other if one is refused', async () => {
    const { storage } = await openMigratedPostgres()
    const [first, deleted] = [sample('flag'), sample('flag')]
    const taken = sample('flag', { projectId: deleted.projectId, key: deleted.key })
    await storage.insert('flag', deleted)
    await storage.update('flag', deleted.id, { deletedAt: '2026-04-01T00:00:00.000Z' })
    await storage.insert('flag', taken)
    await storage.transaction('lock', async (tx) => {
      const [, , found] = await Promise.all([
        tx.insert('flag', first),
        expectRefusal(tx.revive('flag', deleted.id), 'CONFLICT'),
        tx.find('flag', first.id),
        expectRefusal(tx.insert('flag', first), 'CONFLICT'),
      ])
      expect(found).toEqual(first)
    })
    expect((await storage.list('flag', {})).total).toBe(2)
  })

  it('JSON fields in PostgreSQL keep U+0000 and unpaired surrogates, and lists can filter by them', async () => {
    const { storage } = await openMigratedPostgres()
    const tags = ['a\0', '\ud83d', '😀', 'plain']
    const flag = sample('flag', { tags })
    await storage.insert('flag', flag)
    for (const tag of tags) {
      const { data } = await storage.list('flag', { contains: { tags: [tag] } })
      expect(data).toEqual([flag])
    }
  })

  it('Integers up to the largest safe integer are stored exactly', async () => {
    const { storage } = await openMigratedPostgres()
    const most = Number.MAX_SAFE_INTEGER
    const organization = sample('organization', { apiUsage: most, flagCount: most, revision: most })
    await storage.insert('organization', organization)
    expect(await storage.find('organization', organization.id)).toEqual(organization)
    expect((await storage.loadChanges(newId(), most)).version).toBe(0)
  })

  it('A lost connection makes its transaction fail with UNAVAILABLE, and the next one succeeds', async () => {
    const { storage, disconnect } = await openMigratedPostgres()
    const flag = sample('flag')
    const lost = storage.transaction('lock', async (tx) => {
      await tx.insert('flag', flag)
      await disconnect()
      await tx.update('flag', flag.id, { name: 'lost' })
    })
    await expectRefusal(lost, 'UNAVAILABLE')
    await storage.transaction('lock', (tx) => tx.insert('flag', flag))
    expect(await storage.find('flag', flag.id)).toEqual(flag)
  })

  it('A transaction waits for the lock of another instance no longer than the time limit', async () => {
    const { storage, url } = await openMigratedPostgres({ lockTimeoutMs: 100 })
    const other = openPostgres({ url }).storage
    await other.migrate()
    await other.transaction('lock', async (tx) => {
      await tx.find('flag', newId())
      const waiting = storage.transaction('lock', (own) => own.find('flag', newId()))
      await expectRefusal(waiting, 'UNAVAILABLE')
    })
    expect(await storage.transaction('lock', async () => 'free')).toBe('free')
  })

  it('A transaction that is idle for too long is rolled back', async () => {
    const { storage, url } = await openMigratedPostgres({ idleTimeoutMs: 50 })
    const idleSessions = () =>
      readFromPostgres(
        `select pid from pg_stat_activity where state like 'idle in transaction%'
          and application_name = current_setting('application_name')`,
        url,
      )
    const idle = storage.transaction('lock', async (tx) => {
      await tx.insert('flag', sample('flag'))
      await expect.poll(idleSessions).toEqual([])
    })
    await expectRefusal(idle, 'UNAVAILABLE')
    expect((await storage.list('flag', {})).total).toBe(0)
  })
})
