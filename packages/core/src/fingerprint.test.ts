import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyContext } from '../test/context-arbitraries.ts'
import { contextFingerprint, contextHash } from './fingerprint.ts'
import { hash128 } from './hashing/hash128.ts'
import { type EvaluationContext, parseContext } from './model/context.ts'
import { isJsonObject, type JsonValue, jsonEquals } from './model/json.ts'

describe('contextFingerprint', () => {
  it('contextFingerprint returns JSON with the properties of every object sorted', () => {
    const context = parseContext({
      kind: 'user',
      b: { d: [2, { f: null, e: 'x' }], c: true },
      a: 1,
    })
    expect(contextFingerprint(context)).toBe(
      '{"a":1,"b":{"c":true,"d":[2,{"e":"x","f":null}]},"kind":"user"}',
    )
    expect(contextFingerprint({})).toBe('{}')
  })

  it('contextFingerprint omits properties that are undefined', () => {
    expect(contextFingerprint({ kind: 'user', a: undefined })).toBe('{"kind":"user"}')
  })

  it('contextFingerprint does not depend on the order of properties', () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        const turned = reversed(context as JsonValue) as EvaluationContext
        expect(contextFingerprint(turned)).toBe(contextFingerprint(context))
      }),
    )
  })

  it('contextFingerprint is equal only for equal contexts', () => {
    fc.assert(
      fc.property(anyContext, anyContext, (left, right) => {
        const isEqual = jsonEquals(left as JsonValue, right as JsonValue)
        expect(contextFingerprint(left) === contextFingerprint(right)).toBe(isEqual)
      }),
    )
  })

  it('contextFingerprint distinguishes a number from its text, and names that need quotes', () => {
    const fingerprints = [{ a: 1 }, { a: '1' }, { 'a":1,"b': 1 }, { a: 1, b: 1 }].map(
      (attributes) => contextFingerprint({ kind: 'user', ...attributes }),
    )
    expect(new Set(fingerprints).size).toBe(4)
  })
})

describe('contextHash', () => {
  it('contextHash returns the 128-bit hash of the fingerprint', () => {
    const context = { kind: 'user', key: 'user-1' }
    expect(contextHash(context)).toBe(hash128(contextFingerprint(context)))
  })
})

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).reverse()
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]))
}
