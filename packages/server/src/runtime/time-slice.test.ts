import { expect, it } from 'vitest'
import { block } from '../../../storage/test/block.ts'
import { runInTimeSlices } from './time-slice.ts'

function* longItems(count: number): Generator<undefined, number> {
  for (let item = 0; item < count; item += 1) {
    block(10)
    yield
  }
  return count
}

it('Work is interrupted after each item that takes longer than a time slice', async () => {
  let turns = 0
  let isDone = false
  const countTurns = () => {
    turns += 1
    if (!isDone) setImmediate(countTurns)
  }
  setImmediate(countTurns)
  expect(await runInTimeSlices(longItems(6))).toBe(6)
  isDone = true
  expect(turns).toBeGreaterThanOrEqual(6)
})
