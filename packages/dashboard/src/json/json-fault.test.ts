import { expect, it } from 'vitest'
import { checkJson } from './json-fault.ts'

it('Valid JSON is parsed, of any type.', () => {
  expect(checkJson(' [1, null] ')).toEqual({ isValid: true, value: [1, null] })
  expect(checkJson('"text"')).toEqual({ isValid: true, value: 'text' })
})

it('The place of a fault has a line and a column that begin with 1.', () => {
  expect(checkJson('x')).toEqual({ isValid: false, place: { line: 1, column: 1 } })
  expect(checkJson('{\n  "a": 1,\n  b}')).toEqual({ isValid: false, place: { line: 3, column: 3 } })
})

it('A text that ends too early has its fault at the end.', () => {
  expect(checkJson('')).toEqual({ isValid: false, place: { line: 1, column: 1 } })
  expect(checkJson('{"a": ')).toEqual({ isValid: false, place: { line: 1, column: 7 } })
})

it('The place is that of the first token that is not permitted.', () => {
  const columns = ['{"a": 01}', '[1,]', '{"a" 1}', '[1}', '"a\\x"', 'tru', '1 2', '{,}', '["\n"]']
  expect(columns.map((text) => checkJson(text))).toEqual(
    [8, 4, 6, 3, 1, 1, 3, 2, 2].map((column) => ({ isValid: false, place: { line: 1, column } })),
  )
})

it('Deep nesting has no limit.', () => {
  expect(checkJson('['.repeat(60_000))).toEqual({
    isValid: false,
    place: { line: 1, column: 60_001 },
  })
})
