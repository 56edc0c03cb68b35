import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../scripts/test-selection.ts'
import { anyContext } from '../test/context-arbitraries.ts'
import { contextFingerprint } from './fingerprint.ts'
import type { EvaluationContext } from './model/context.ts'
import { isJsonObject, type JsonValue, jsonEquals } from './model/json.ts'

describe('contextFingerprint', () => {
  it('contextFingerprint does not depend on the order of properties', () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        const turned = reversed(context as JsonValue) as EvaluationContext
        expect(contextFingerprint(turned)).toBe(contextFingerprint(context))
      }),
      { numRuns: runs(100) },
    )
  })

  it('contextFingerprint is equal only for equal contexts', () => {
    fc.assert(
      fc.property(anyContext, anyContext, (left, right) => {
        const isEqual = jsonEquals(left as JsonValue, right as JsonValue)
        expect(contextFingerprint(left) === contextFingerprint(right)).toBe(isEqual)
      }),
      { numRuns: runs(100) },
    )
  })
})

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).reverse()
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]))
}
