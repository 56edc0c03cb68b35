import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { clip, jsonExcerpt } from './quote.ts'

describe('Quoting of values in messages', () => {
  it('jsonExcerpt returns the start of the JSON text of any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8, noUnicodeString: false }), (value) => {
        expect(jsonExcerpt(value)).toBe(clip(JSON.stringify(value)))
      }),
      { numRuns: runs(5_000) },
    )
    const long = { name: 'é"\u2028\n'.repeat(60), ['k'.repeat(300)]: [] }
    for (const value of [long, [long], { long }]) {
      expect(jsonExcerpt(value)).toBe(clip(JSON.stringify(value)))
    }
  })
})
