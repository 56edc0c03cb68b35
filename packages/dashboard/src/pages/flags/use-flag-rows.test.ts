import { expect, it } from 'vitest'
import { FIRST_ROWS } from '../../first-requests/first-requests.ts'
import { withRow } from './flags-table.tsx'
import { pagesOf } from './use-flag-rows.ts'

it('The rows in view need the pages that contain them, without the first rows.', () => {
  expect(pagesOf([0, 1, FIRST_ROWS - 1])).toEqual([])
  expect(pagesOf([FIRST_ROWS - 1, FIRST_ROWS, 199])).toEqual([1])
  expect(pagesOf([198, 199, 200, 201])).toEqual([1, 2])
  expect(pagesOf([399, 400])).toEqual([2, 3])
})

it('The row with the focus stays in the page, in its place.', () => {
  const range = { startIndex: 10, endIndex: 12, overscan: 1, count: 100 }
  expect(withRow(range, undefined)).toEqual([9, 10, 11, 12, 13])
  expect(withRow(range, 11)).toEqual([9, 10, 11, 12, 13])
  expect(withRow(range, 3)).toEqual([3, 9, 10, 11, 12, 13])
  expect(withRow(range, 100)).toEqual([9, 10, 11, 12, 13])
})
