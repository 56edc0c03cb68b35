import { expect, it } from 'vitest'
import { pauseBefore } from './workers.ts'

it('The delay before a worker is replaced grows with each quick exit, up to 30 seconds', () => {
  expect([0, 1, 2, 3].map(pauseBefore)).toEqual([100, 200, 400, 800])
  expect([8, 9, 20, 5000].map(pauseBefore)).toEqual([25_600, 30_000, 30_000, 30_000])
})
