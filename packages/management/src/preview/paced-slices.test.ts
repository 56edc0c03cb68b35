import { beforeEach, expect, it, vi } from 'vitest'
import { PacedSlices } from './paced-slices.ts'

/** Does other work in each turn of the event loop, for `ms` milliseconds of the fake clock each. */
class OtherWork {
  turns = 0
  #isOver = false

  constructor(ms: number) {
    const work = () => {
      vi.advanceTimersByTime(ms)
      this.turns += 1
      if (!this.#isOver) setImmediate(work)
    }
    setImmediate(work)
  }

  stop(): void {
    this.#isOver = true
  }
}

/** Returns the turns of other work during ten time slices that end immediately. */
async function turnsOfOtherWork(slices: PacedSlices, work: OtherWork): Promise<number> {
  const before = work.turns
  for (let slice = 0; slice < 10; slice += 1) await slices.next()
  return work.turns - before
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  return () => void vi.useRealTimers()
})

it('Beside other work, each time slice leaves the event loop to it for many turns', async () => {
  const slices = new PacedSlices()
  const work = new OtherWork(1)
  await slices.next()
  expect(await turnsOfOtherWork(slices, work)).toBeGreaterThan(80)
  work.stop()
})

it('Beside other work, time slices are short', async () => {
  const slices = new PacedSlices()
  const work = new OtherWork(1)
  await slices.next()
  const slice = await slices.next()
  work.stop()
  expect(slice.take()).toBe(true)
  vi.advanceTimersByTime(1)
  expect(slice.take()).toBe(false)
})

it('After other work has ended, time slices follow each other after a few turns again', async () => {
  const slices = new PacedSlices()
  const busy = new OtherWork(1)
  await slices.next()
  busy.stop()
  const idle = new OtherWork(0.01)
  await slices.next()
  await slices.next()
  // Each pause would have thousands of these turns.
  expect(await turnsOfOtherWork(slices, idle)).toBeLessThan(1000)
  idle.stop()
})

it('Several callers receive their time slices one after another', async () => {
  const slices = new PacedSlices()
  const order: number[] = []
  await Promise.all([1, 2, 3].map((caller) => slices.next().then(() => order.push(caller))))
  expect(order).toEqual([1, 2, 3])
})
