import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { canonicalJson, canonicalJsonIncrementally } from './canonical-json.ts'
import { runToEnd } from './incremental.ts'
import type { JsonValue } from './json.ts'

describe('canonicalJsonIncrementally', () => {
  it('canonicalJsonIncrementally returns the same text as canonicalJson', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = value as JsonValue
        expect(runToEnd(canonicalJsonIncrementally(json))).toBe(canonicalJson(json))
      }),
      { numRuns: runs(100) },
    )
  })
})
