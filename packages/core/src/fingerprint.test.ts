import { describe, expect, it } from 'vitest'
import { contextFingerprint, contextHash } from './fingerprint.ts'
import { hash128 } from './hashing/hash128.ts'
import { parseContext } from './model/context.ts'

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
