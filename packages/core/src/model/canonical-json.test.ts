import { describe, expect, it } from 'vitest'
import { canonicalJson, canonicalJsonIncrementally } from './canonical-json.ts'
import { runToEnd } from './incremental.ts'
import type { JsonValue } from './json.ts'

describe('canonicalJsonIncrementally', () => {
  it('canonicalJsonIncrementally yields after each element of an outer list', () => {
    const work = canonicalJsonIncrementally({ payload: { after: { rules: ['a', 'b', 'c'] } } })
    expect([...work]).toHaveLength(3)
  })

  it('canonicalJsonIncrementally yields only in the four outer levels', () => {
    expect([...canonicalJsonIncrementally([[[[[1, 2]]]]])]).toHaveLength(4)
    expect([...canonicalJsonIncrementally({ a: { b: { c: { d: [1, 2] } } } })]).toHaveLength(0)
  })

  it('canonicalJson and canonicalJsonIncrementally sort names and omit undefined members', () => {
    const value = { b: undefined, c: [true, null], a: { d: 'x', '10': 1, '9': 2 } }
    const json = value as unknown as JsonValue
    const text = '{"a":{"10":1,"9":2,"d":"x"},"c":[true,null]}'
    expect(canonicalJson(json)).toBe(text)
    expect(runToEnd(canonicalJsonIncrementally(json))).toBe(text)
  })
})
