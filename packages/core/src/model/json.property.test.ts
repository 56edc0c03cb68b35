import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { isJsonObject, type JsonValue, jsonEquals } from './json.ts'

const names = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', 'toString')

/** Small JSON values. Two random values are often equal or nearly equal. */
const json = fc
  .letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, true, false, 0, 1, '', '1', 'a'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc
        .array(fc.tuple(names, tie('value')), { maxLength: 3 })
        .map((entries) => JSON.stringify(Object.fromEntries(entries)))
        .map((text): unknown => JSON.parse(text)),
    ),
  }))
  .value.map((value) => value as JsonValue)

/** Returns the same value with the properties of each object in another order. */
function shuffled(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(shuffled)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).reverse()
  return Object.fromEntries(entries.map(([name, inner]) => [name, shuffled(inner)]))
}

describe('jsonEquals for any JSON', () => {
  it('jsonEquals is reflexive, also if the properties are reordered', () => {
    fc.assert(
      fc.property(json, (a) => {
        expect(jsonEquals(a, shuffled(a))).toBe(true)
      }),
      { numRuns: runs(100) },
    )
  })

  it('jsonEquals is symmetric and agrees with isDeepStrictEqual', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const expected = isDeepStrictEqual(a, b)
        expect(jsonEquals(a, b)).toBe(expected)
        expect(jsonEquals(b, a)).toBe(expected)
      }),
      { numRuns: runs(3000) },
    )
  })

  it('jsonEquals is transitive', () => {
    fc.assert(
      fc.property(json, json, json, (a, b, c) => {
        if (jsonEquals(a, b) && jsonEquals(b, c)) expect(jsonEquals(a, c)).toBe(true)
      }),
      { numRuns: runs(3000) },
    )
  })
})
