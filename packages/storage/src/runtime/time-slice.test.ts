import { expect, it } from 'vitest'
import { block } from '../../test/block.ts'
import { TimeSlices } from './time-slice.ts'

function* longItems(count: number): Generator<undefined, number> {
  for (let item = 0; item < count; item += 1) {
    block(10)
    yield
  }
  return count
}

it('Concurrent work of one object shares one time slice per turn of the event loop', async () => {
  let turns = 0
  let isDone = false
  const countTurns = () => {
    turns += 1
    if (!isDone) setImmediate(countTurns)
  }
  setImmediate(countTurns)
  const slices = new TimeSlices()
  const works = [slices.run(longItems(3)), slices.run(longItems(3))]
  expect(await Promise.all(works)).toEqual([3, 3])
  isDone = true
  expect(turns).toBeGreaterThanOrEqual(6)
})

it('Short work ends in the turn of the event loop in which it began', async () => {
  let hasTurned = false
  setImmediate(() => {
    hasTurned = true
  })
  expect(await new TimeSlices().run(longItems(0))).toBe(0)
  expect(hasTurned).toBe(false)
})
