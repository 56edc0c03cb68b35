import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { sha256 } from './sha256.ts'

function expected(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

describe('sha256', () => {
  it('sha256 agrees with Node for any text of several blocks', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
    fc.assert(
      fc.property(texts, fc.nat({ max: 50 }), (text, times) => {
        expect(sha256(text.repeat(times))).toBe(expected(text.repeat(times)))
      }),
      { numRuns: runs(100) },
    )
  })
})
