import { expect, it } from 'vitest'
import { jsonFaultAt } from './json-fault.ts'
import { variationFault } from './variation-value.ts'

it('A fault of JSON names its line and column', () => {
  expect(variationFault('json', '{\n  "a": 1,\n  x\n}')).toMatch(/line 3, column 3/)
  expect(variationFault('json', '{"a": ')).toMatch(/line 1, column 7/)
  expect(variationFault('json', '{"a": 1}')).toBeUndefined()
})

it('The position of the first fault is found where JSON.parse refuses a text, and nowhere else', () => {
  const texts = [
    ...['', ' ', '1', '-0.5e+3', '01', '1.', 'tru', 'truex', '"a', '"\\u12"', '"\\u1234"', '"\n"'],
    ...['[]', '[1,]', '[,1]', '[1 2]', '{}', '{"a"}', '{"a":}', '{"a":1,}', '{a:1}', '{"a":[{}]}'],
    ...['[}', '{]', '[1]]', '{"a":1}{', 'null', ' {"b" : [ true , null ] } ', '\u00a0[]'],
  ]
  for (const text of texts) {
    let isValid = true
    try {
      JSON.parse(text)
    } catch {
      isValid = false
    }
    expect([text, jsonFaultAt(text) === undefined]).toEqual([text, isValid])
  }
  expect(['{"a": x}', '[1,]', '[1 2]', '{"a"'].map(jsonFaultAt)).toEqual([6, 3, 3, 4])
})

it('Values are checked by the type of the flag', () => {
  expect(variationFault('number', 'six')).toMatch(/number/)
  expect(variationFault('number', '9007199254740993')).toMatch(/beyond/)
  expect(variationFault('number', '-1.5e3')).toBeUndefined()
  expect(variationFault('boolean', 'yes')).toMatch(/true or false/)
  expect(variationFault('string', '')).toBeUndefined()
})
