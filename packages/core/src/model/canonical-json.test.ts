import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
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
    )
  })

  it('canonicalJsonIncrementally yields after each element of an outer list', () => {
    const work = canonicalJsonIncrementally({ payload: { after: { rules: ['a', 'b', 'c'] } } })
    expect([...work]).toHaveLength(3)
  })
})
