import { expect, it } from 'vitest'
import { pauseBefore } from './workers.ts'

it('a place is given to a new worker soon at first, and ever later to those that end at once', () => {
  expect([0, 1, 2, 3].map(pauseBefore)).toEqual([100, 200, 400, 800])
  expect([8, 9, 20, 5000].map(pauseBefore)).toEqual([25_600, 30_000, 30_000, 30_000])
})
