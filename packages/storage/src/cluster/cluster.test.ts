import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { linkPair } from '../../test/link-pair.ts'
import { expectRefusal } from '../contract/samples/fixtures.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { sample } from '../contract/samples/samples.ts'
import type { FlagSetChange } from '../ports/change-feed.ts'
import { cluster } from './cluster.ts'
import type { BareLink } from './link.ts'
import { Primary } from './primary.ts'
import { workerCapabilities } from './worker-capabilities.ts'

const LOCK = 'an organization'

describe('workers of a cluster', () => {
  it('Workers of a cluster immediately see the changes of other workers', async () => {
    const { fork } = await openCluster()
    const [writer, reader] = [await fork(), await fork()]
    for (let n = 0; n < 20; n += 1) {
      const flag = sample('flag')
      await writer.storage.insert('flag', flag)
      expect(await reader.storage.find('flag', flag.id)).toEqual(flag)
    }
  })

  it('Concurrent transactions of several workers lose no changes', async () => {
    const { fork } = await openCluster()
    const workers = [await fork(), await fork(), await fork()]
    const flag = { ...sample('flag'), revision: 0 }
    await workers[0]?.storage.insert('flag', flag)
    const increments = workers.flatMap(({ storage }) =>
      Array.from({ length: 10 }, () =>
        storage.transaction(newId(), async (tx) => {
          const revision = (await tx.find('flag', flag.id))?.revision ?? Number.NaN
          await tx.update('flag', flag.id, { revision: revision + 1 })
        }),
      ),
    )
    await Promise.all(increments)
    expect((await workers[1]?.storage.find('flag', flag.id))?.revision).toBe(30)
  })

  it('A worker of a cluster receives the changes of all workers until it ends', async () => {
    const { fork } = await openCluster()
    const workers = [await fork(), await fork(), await fork()]
    const received = workers.map(() => [] as unknown[])
    for (const [index, { changeFeed }] of workers.entries()) {
      await changeFeed.subscribe((change) => received[index]?.push(change))
    }
    const changes: readonly FlagSetChange[] = [
      { type: 'flagSet', environmentId: newId(), version: 7 },
      { type: 'sdkKeys' },
    ]
    for (const change of changes) await workers[0]?.changeFeed.publish(change)
    await expect.poll(() => received).toEqual(workers.map(() => changes))
    workers[1]?.end()
    await workers[2]?.changeFeed.publish({ type: 'sdkKeys' })
    await expect.poll(() => received.map(({ length }) => length)).toEqual([3, 2, 3])
  })

  it('Workers of a cluster share the limit of a rate limiter', async () => {
    const { fork } = await openCluster()
    const workers = [await fork(), await fork()]
    const window = { limit: 100, startedAt: 0, lengthMs: 60_000 }
    const grants = await Promise.all(
      Array.from({ length: 80 }, (_, n) => workers[n % 2]?.rateLimiter.lease('key', window, 3)),
    )
    expect(grants.reduce((sum = 0, grant = 0) => sum + grant, 0)).toBe(100)
  })
})

describe('a worker that ends', () => {
  it('If a worker ends, its instance reports are removed', async () => {
    const { fork } = await openCluster()
    const [ending, other] = [await fork(), await fork()]
    const numbers = { version: 1, ws: 1, poll: 0, behind: 0, applied: null, byVersion: [] }
    const report = { environmentId: newId(), ...numbers }
    await ending.instanceReports.report('ending', [report])
    await other.instanceReports.report('other', [report])
    const ids = async () => {
      const listed = await other.instanceReports.list(report.environmentId)
      return listed.map(({ instanceId }) => instanceId)
    }
    expect(await ids()).toEqual(['ending', 'other'])
    ending.end()
    await expect.poll(ids).toEqual(['other'])
  })

  it('If a worker ends, its open transaction is rolled back, and other workers can write', async () => {
    const { fork } = await openCluster()
    const [ending, other] = [await fork(), await fork()]
    const [lost, kept] = [sample('flag'), sample('flag')]
    const dying = ending.storage.transaction(LOCK, async (tx) => {
      await tx.insert('flag', lost)
      ending.end()
    })
    await expectRefusal(dying, 'UNAVAILABLE')
    await other.storage.insert('flag', kept)
    expect((await other.storage.list('flag', {})).data).toEqual([kept])
  })

  it('If a worker ends, its waiting transactions do not block other workers', async () => {
    const { fork } = await openCluster()
    const [ending, other, third] = [await fork(), await fork(), await fork()]
    const [first, lost, last] = [sample('flag'), sample('flag'), sample('flag')]
    await other.storage.transaction(LOCK, async (tx) => {
      const waiting = ending.storage.insert('flag', lost)
      void third.storage.insert('flag', last)
      await tx.insert('flag', first)
      ending.end()
      await expectRefusal(waiting, 'UNAVAILABLE')
    })
    await expect
      .poll(async () => (await other.storage.list('flag', {})).data.map(({ id }) => id).sort())
      .toEqual([first.id, last.id].sort())
    await other.storage.update('flag', last.id, { name: 'Nobody holds the writer' })
  })

  it('Acknowledged changes of a worker that ends are kept', async () => {
    const { fork } = await openCluster()
    const [ending, other] = [await fork(), await fork()]
    const flag = sample('flag')
    await ending.storage.insert('flag', flag)
    ending.end()
    expect(await other.storage.find('flag', flag.id)).toEqual(flag)
  })
})

it('A transaction of a worker that sends no statements is rolled back after a timeout', async () => {
  const { fork } = await openCluster({ silenceMs: 200 })
  const [silent, other] = [await fork(), await fork()]
  const [lost, kept] = [sample('flag'), sample('flag')]
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const sleeping = silent.storage.transaction(LOCK, async (tx) => {
    await tx.insert('flag', lost)
    const waiting = other.storage.insert('flag', kept)
    await vi.advanceTimersByTimeAsync(200)
    await waiting
    await expectRefusal(tx.find('flag', lost.id), 'UNAVAILABLE')
  })
  await expectRefusal(sleeping, 'UNAVAILABLE')
  expect((await silent.storage.list('flag', {})).data).toEqual([kept])
  await silent.storage.insert('flag', lost)
})

it('Other workers can write immediately after a transaction of a worker has failed', async () => {
  const { fork } = await openCluster({ silenceMs: 3_600_000 })
  const [failing, other] = [await fork(), await fork()]
  const kept = sample('flag')
  const failed = failing.storage.transaction(LOCK, async (tx) => {
    await tx.insert('flag', sample('flag'))
    throw new Error('The work failed.')
  })
  await expect(failed).rejects.toThrow('The work failed.')
  await other.storage.insert('flag', kept)
  expect((await failing.storage.list('flag', {})).data).toEqual([kept])
})

it('A worker receives an error of the primary with its code and cause', async () => {
  const { fork } = await openCluster()
  const worker = await fork()
  const flag = sample('flag')
  await worker.storage.insert('flag', flag)
  await expect(worker.storage.insert('flag', flag)).rejects.toMatchObject({
    code: 'CONFLICT',
    cause: { message: expect.stringContaining('UNIQUE constraint failed') },
  })
})

it('A worker can continue a transaction after an INVALID_REQUEST for a value', async () => {
  const { storage } = await (await openCluster()).fork()
  const flag = sample('flag')
  await storage.transaction(LOCK, async (tx) => {
    const nameless = sample('flag', { name: null as unknown as string })
    await expectRefusal(tx.insert('flag', nameless), 'INVALID_REQUEST')
    await tx.insert('flag', flag)
  })
  expect((await storage.list('flag', {})).data).toEqual([flag])
})

it('A worker without its primary can read but not write', async () => {
  const { fork } = await openCluster()
  const worker = await fork()
  const flag = sample('flag')
  await worker.storage.insert('flag', flag)
  worker.end()
  await expectRefusal(worker.storage.insert('flag', sample('flag')), 'UNAVAILABLE')
  await expectRefusal(worker.changeFeed.publish({ type: 'sdkKeys' }), 'UNAVAILABLE')
  expect(await worker.storage.find('flag', flag.id)).toEqual(flag)
})

it('A link ignores messages of other code and about other files', async () => {
  const { serve, path } = await openCluster()
  const [atPrimary, atWorker] = linkPair()
  serve(atPrimary)
  const { storage } = workerCapabilities(path, atWorker)
  for (const message of ['text', null, { type: 'begin' }, { ff: 'another file', message: {} }]) {
    for (const link of [atPrimary, atWorker]) link.send(message as object)
  }
  await storage.migrate()
  expect((await storage.list('flag', {})).total).toBe(0)
  await storage.close()
})

it('Calling `cluster` outside a worker throws an error', () => {
  expect(() => cluster({ path: 'flags.db' })).toThrow('workers of node:cluster')
})

/** Opens a primary on a new file. Its workers also run in this process. */
async function openCluster(options: { readonly silenceMs?: number } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'ff-cluster-'))
  const path = join(folder, 'flags.db')
  const primary = new Primary(path, options)
  const opened: { close(): Promise<void> }[] = []
  onTestFinished(async () => {
    for (const { close } of opened) await close()
    await primary.close()
    await rm(folder, { recursive: true })
  })
  const serve = (link: BareLink) => primary.serve(link)
  const fork = async () => {
    const [atPrimary, atWorker] = linkPair()
    serve(atPrimary)
    const capabilities = workerCapabilities(path, atWorker)
    await capabilities.storage.migrate()
    opened.push({ close: () => capabilities.storage.close() })
    opened.push({ close: async () => atWorker.end() })
    return { ...capabilities, end: () => atWorker.end() }
  }
  return { fork, serve, path }
}
