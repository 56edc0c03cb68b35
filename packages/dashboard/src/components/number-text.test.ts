import { expect, it } from 'vitest'
import { isAmbiguous, numberIn, numberText } from './number-text.ts'

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

it('A comma before three digits is ambiguous if the field accepts the larger number', () => {
  expect(['1,000', ' 12,345 ', '-1,000'].map((text) => isAmbiguous(text))).toEqual([
    true,
    true,
    true,
  ])
  expect(['1,0', '0,125', '1,0000', '1000', '1.000', ''].some((text) => isAmbiguous(text))).toBe(
    false,
  )
  expect([isAmbiguous('33,333', 100), isAmbiguous('1,000', 87_600)]).toEqual([false, true])
})

it('A number is written without separators of thousands, and no number as an empty text', () => {
  expect(numberText(87_600.25)).toBe('87600.25')
  expect([numberText(undefined), numberText(null)]).toEqual(['', ''])
})
