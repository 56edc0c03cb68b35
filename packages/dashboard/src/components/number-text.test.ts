import { expect, it } from 'vitest'
import { numberIn, numberText } from './number-text.ts'

it.each([
  ['25', 25],
  [' 0.5 ', 0.5],
  ['33,333', 33.333],
  ['12.', 12],
  ['-1', -1],
  ['', undefined],
  ['1e3', undefined],
  ['12 %', undefined],
  ['1.2.3', undefined],
])('The text "%s" is the number %s', (text, number) => {
  expect(numberIn(text)).toBe(number)
})

it('A number is written without separators of thousands, and no number as an empty text', () => {
  expect(numberText(87_600.25)).toBe('87600.25')
  expect([numberText(undefined), numberText(null)]).toEqual(['', ''])
})
