import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { linkPair } from '../../test/link-pair.ts'
import { expectRefusal } from '../contract/fixtures.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { sample } from '../contract/samples/samples.ts'
import type { FlagSetChange } from '../ports/change-feed.ts'
import { cluster } from './cluster.ts'
import type { BareLink } from './link.ts'
import { Primary } from './primary.ts'
import { workerCapabilities } from './worker-capabilities.ts'

const LOCK = 'an organization'

describe('workers of a cluster', () => {
  it('see at once what another one has kept', async () => {
    const { fork } = await openCluster()
    const [writer, reader] = [await fork(), await fork()]
    for (let n = 0; n < 20; n += 1) {
      const flag = sample('flag')
      await writer.storage.insert('flag', flag)
      expect(await reader.storage.find('flag', flag.id)).toEqual(flag)
    }
  })

  it('write one after another, and lose nothing of each other', async () => {
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

  it('receive the changes of all, until they end', async () => {
    const { fork } = await openCluster()
    const workers = [await fork(), await fork(), await fork()]
    const heard = workers.map(() => [] as unknown[])
    for (const [index, { changeFeed }] of workers.entries()) {
      await changeFeed.subscribe((change) => heard[index]?.push(change))
    }
    const changes: readonly FlagSetChange[] = [
      { type: 'flagSet', environmentId: newId(), version: 7 },
      { type: 'sdkKeys' },
    ]
    for (const change of changes) await workers[0]?.changeFeed.publish(change)
    await expect.poll(() => heard).toEqual(workers.map(() => changes))
    workers[1]?.end()
    await workers[2]?.changeFeed.publish({ type: 'sdkKeys' })
    await expect.poll(() => heard.map(({ length }) => length)).toEqual([3, 2, 3])
  })

  it('are granted a limit together, and no more', async () => {
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
  it('leaves nothing of an open transaction, and the writer to the others', async () => {
    const { fork } = await openCluster()
    const [mortal, other] = [await fork(), await fork()]
    const [lost, kept] = [sample('flag'), sample('flag')]
    const dying = mortal.storage.transaction(LOCK, async (tx) => {
      await tx.insert('flag', lost)
      mortal.end()
    })
    await expectRefusal(dying, 'UNAVAILABLE')
    await other.storage.insert('flag', kept)
    expect((await other.storage.list('flag', {})).data).toEqual([kept])
  })

  it('does not hold up the others by transactions that were waiting', async () => {
    const { fork } = await openCluster()
    const [mortal, other, third] = [await fork(), await fork(), await fork()]
    const [first, lost, last] = [sample('flag'), sample('flag'), sample('flag')]
    await other.storage.transaction(LOCK, async (tx) => {
      const waiting = mortal.storage.insert('flag', lost)
      void third.storage.insert('flag', last)
      await tx.insert('flag', first)
      mortal.end()
      await expectRefusal(waiting, 'UNAVAILABLE')
    })
    await expect
      .poll(async () => (await other.storage.list('flag', {})).data.map(({ id }) => id).sort())
      .toEqual([first.id, last.id].sort())
    await other.storage.update('flag', last.id, { name: 'Nobody holds the writer' })
  })

  it('has kept what was acknowledged', async () => {
    const { fork } = await openCluster()
    const [mortal, other] = [await fork(), await fork()]
    const flag = sample('flag')
    await mortal.storage.insert('flag', flag)
    mortal.end()
    expect(await other.storage.find('flag', flag.id)).toEqual(flag)
  })
})

it('a worker that goes silent in a transaction loses it, and hears so', async () => {
  const { fork } = await openCluster({ silenceMs: 200 })
  const [silent, other] = [await fork(), await fork()]
  const [lost, kept] = [sample('flag'), sample('flag')]
  const sleeping = silent.storage.transaction(LOCK, async (tx) => {
    await tx.insert('flag', lost)
    await other.storage.insert('flag', kept)
    await expectRefusal(tx.find('flag', lost.id), 'UNAVAILABLE')
  })
  await expectRefusal(sleeping, 'UNAVAILABLE')
  expect((await silent.storage.list('flag', {})).data).toEqual([kept])
  await silent.storage.insert('flag', lost)
})

it('a worker whose transaction fails leaves the writer to the others at once', async () => {
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

it('what the primary cannot do is said as it said it', async () => {
  const { fork } = await openCluster()
  const worker = await fork()
  const flag = sample('flag')
  await worker.storage.insert('flag', flag)
  await expect(worker.storage.insert('flag', flag)).rejects.toMatchObject({
    code: 'CONFLICT',
    cause: { message: expect.stringContaining('UNIQUE constraint failed') },
  })
})

it('a value that its column does not take is INVALID_REQUEST, and its transaction may go on', async () => {
  const { storage } = await (await openCluster()).fork()
  const flag = sample('flag')
  await storage.transaction(LOCK, async (tx) => {
    const nameless = sample('flag', { name: null as unknown as string })
    await expectRefusal(tx.insert('flag', nameless), 'INVALID_REQUEST')
    await tx.insert('flag', flag)
  })
  expect((await storage.list('flag', {})).data).toEqual([flag])
})

it('without its primary a worker reads still, and writes no more', async () => {
  const { fork } = await openCluster()
  const worker = await fork()
  const flag = sample('flag')
  await worker.storage.insert('flag', flag)
  worker.end()
  await expectRefusal(worker.storage.insert('flag', sample('flag')), 'UNAVAILABLE')
  await expectRefusal(worker.changeFeed.publish({ type: 'sdkKeys' }), 'UNAVAILABLE')
  expect(await worker.storage.find('flag', flag.id)).toEqual(flag)
})

it('a link may carry the messages of others', async () => {
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

it('only a worker of a cluster can be one', () => {
  expect(() => cluster({ path: 'flags.db' })).toThrow('workers of node:cluster')
})

/** A primary over a new file, and its workers, which are in this process too. */
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
