import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyContext } from '../test/arbitraries.ts'
import {
  canonicalJson,
  canonicalJsonIncrementally,
  contextFingerprint,
  contextHash,
} from './fingerprint.ts'
import { hash128 } from './hashing/hash128.ts'
import { type EvaluationContext, parseContext } from './model/context.ts'
import { runToEnd } from './model/incremental.ts'
import { isJsonObject, type JsonValue, jsonEquals } from './model/json.ts'

describe('contextFingerprint', () => {
  it('is JSON with every object in one order', () => {
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

  it('leaves out what is undefined', () => {
    expect(contextFingerprint({ kind: 'user', a: undefined })).toBe('{"kind":"user"}')
  })

  it('is the same whatever the order of names', () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        const turned = reversed(context as JsonValue) as EvaluationContext
        expect(contextFingerprint(turned)).toBe(contextFingerprint(context))
      }),
    )
  })

  it('is equal for equal contexts only', () => {
    fc.assert(
      fc.property(anyContext, anyContext, (left, right) => {
        const isEqual = jsonEquals(left as JsonValue, right as JsonValue)
        expect(contextFingerprint(left) === contextFingerprint(right)).toBe(isEqual)
      }),
    )
  })

  it('tells a number from its text, and names that need quotes', () => {
    const fingerprints = [{ a: 1 }, { a: '1' }, { 'a":1,"b': 1 }, { a: 1, b: 1 }].map(
      (attributes) => contextFingerprint({ kind: 'user', ...attributes }),
    )
    expect(new Set(fingerprints).size).toBe(4)
  })
})

describe('contextHash', () => {
  it('is the 128-bit hash of the fingerprint', () => {
    const context = { kind: 'user', key: 'user-1' }
    expect(contextHash(context)).toBe(hash128(contextFingerprint(context)))
  })
})

describe('canonicalJsonIncrementally', () => {
  it('returns the same text as canonicalJson', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = value as JsonValue
        expect(runToEnd(canonicalJsonIncrementally(json))).toBe(canonicalJson(json))
      }),
    )
  })

  it('can be interrupted between the elements of a list', () => {
    const work = canonicalJsonIncrementally({ payload: { after: { rules: ['a', 'b', 'c'] } } })
    expect([...work]).toHaveLength(3)
  })
})

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).reverse()
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]))
}
