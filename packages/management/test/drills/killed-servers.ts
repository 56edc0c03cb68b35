import { expect } from 'vitest'
import { IS_FULL, report } from '../../../server/test/drills/scale.ts'
import { CountingWriters, type WrittenStore } from './counting-writers.ts'
import { medianOf, spreadOf } from './durations.ts'
import { pause, startServer } from './server-process.ts'

interface Drill {
  readonly store: WrittenStore
  readonly kills: number
  /** Resolves when nothing of a killed server can change the store any more. */
  readonly ended?: () => Promise<void>
}

/** Kills servers during writes, and asserts that each acknowledged write is kept. */
export async function killServers({ store, kills, ended }: Drill): Promise<void> {
  const writers = new CountingWriters(store)
  const readyAfter: number[] = []
  const first = await startServer(store.location)
  first.process.kill('SIGTERM')
  expect(await first.ended).toBe(0)
  for (let kill = 0; kill < kills; kill += 1) {
    const server = await startServer(store.location)
    readyAfter.push(server.readyAfterMs)
    await writers.settle(server.url)
    const before = writers.acknowledged
    const writing = writers.write(server.url)
    await expect.poll(() => writers.acknowledged, { interval: 5 }).toBeGreaterThan(before)
    await pause(Math.random() * 135)
    server.process.kill('SIGKILL')
    await server.ended
    expect(await writing, 'the statuses of the last requests').toEqual(new Set([undefined]))
    await ended?.()
    await writers.assertKept()
  }
  const last = await startServer(store.location)
  await writers.assertChain(last.url)
  expect(writers.acknowledged).toBeGreaterThan(kills)
  report(
    `${kills} kills: ${writers.acknowledged} writes acknowledged, 0 lost; ready again after ` +
      spreadOf(readyAfter),
  )
  if (!IS_FULL) return
  expect(medianOf(readyAfter)).toBeLessThan(1000)
  expect(Math.max(...readyAfter)).toBeLessThan(3000)
}
