import { canonicalJson } from '@ff/core/fingerprint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { isLongerJson } from './json-length.ts'

const json = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()))

describe('isLongerJson', () => {
  it('isLongerJson returns false if the limit is the length of the JSON text', () => {
    const property = fc.property(json, (value) => {
      const text = canonicalJson(JSON.parse(JSON.stringify(value)))
      expect(isLongerJson(value, text.length)).toBe(false)
    })
    fc.assert(property, { numRuns: runs(100) })
  })

  it('isLongerJson is exact for values without escaped characters, empty arrays and empty objects', () => {
    const leaf = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'é', '😀') }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    )
    const values = fc.array(fc.dictionary(fc.stringMatching(/^[a-z]+$/), leaf, { minKeys: 1 }), {
      minLength: 1,
    })
    const property = fc.property(values, (value) => {
      const text = canonicalJson(JSON.parse(JSON.stringify(value)))
      expect(isLongerJson(value, text.length)).toBe(false)
      expect(isLongerJson(value, text.length - 1)).toBe(true)
    })
    fc.assert(property, { numRuns: runs(100) })
  })

  it('isLongerJson ignores members that are undefined, as JSON does', () => {
    expect(isLongerJson({ a: 1, long: undefined }, '{"a":1}'.length)).toBe(false)
  })
})
