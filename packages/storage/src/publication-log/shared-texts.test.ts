import { expect, it } from 'vitest'
import { SharedTexts } from './shared-texts.ts'

it('Sharing texts changes no value, whatever the names and the lengths of texts', () => {
  const long = 'x'.repeat(100)
  const text = JSON.stringify([
    { id: 'a', list: ['a', 'b', 1, null, true, { id: 'b' }], '': 'a' },
    { id: 'a', nested: { deep: ['a', long, long] }, length: 'b' },
  ]).replace('"nested"', '"__proto__":"a","nested"')
  const parsed: unknown = JSON.parse(text)
  new SharedTexts().shareIn(parsed)
  expect(JSON.stringify(parsed)).toBe(text)
  for (const value of [null, 'a', 1, true, [], {}]) new SharedTexts().shareIn(value)
})
