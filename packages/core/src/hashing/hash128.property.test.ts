import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { hash128 } from './hash128.ts'

describe('hash128', () => {
  it('hash128 returns 32 lower-case hex digits', () => {
    fc.assert(
      fc.property(fc.string(), (text) => /^[0-9a-f]{32}$/.test(hash128(text))),
      { numRuns: runs(100) },
    )
  })

  it('hash128 hashes the UTF-8 bytes of any text', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
    fc.assert(
      fc.property(texts, fc.nat(), (text, seed) => {
        const bytes = new TextEncoder().encode(text)
        expect(hash128(text)).toBe(hash128(bytes))
        expect(hash128(text, seed)).toBe(hash128(bytes, seed))
      }),
      { numRuns: runs(100) },
    )
  })
})
