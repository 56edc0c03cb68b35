import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition } from '../test/definitions.ts'
import { evaluateAll, onlyFlags } from './evaluate.ts'
import { compileFlagSet } from './flag-set.ts'
import { hash128 } from './hash128.ts'
import { valuesHash } from './values-hash.ts'

const USER = { kind: 'user', key: 'user-1' }

/** The hash of flags that serve the variations named. */
function hashOf(served: Readonly<Record<string, 'on' | 'off'>>): string {
  const flags = Object.entries(served).map(([key, defaultVariationId]) => {
    return flagDefinition(key, { defaultVariationId })
  })
  return valuesHash(evaluateAll(compileFlagSet(flagSetDefinition(flags)), USER, 0))
}

function xor(...hashes: readonly string[]): string {
  const sum = hashes.reduce((all, hash) => all ^ BigInt(`0x${hash}`), 0n)
  return sum.toString(16).padStart(32, '0')
}

describe('valuesHash', () => {
  it('is the exclusive or of the hashes of the members that JSON text has', () => {
    expect(hashOf({})).toBe('0'.repeat(32))
    expect(hashOf({ a: 'on' })).toBe(hash128('"a":true'))
    expect(hashOf({ a: 'off', b: 'on', c: 'off' })).toBe(
      xor(hash128('"a":false'), hash128('"b":true'), hash128('"c":false')),
    )
  })

  it('is of each answer of a flag set, and of some of its flags', () => {
    const flags = ['a', 'b', 'c'].map((key) => flagDefinition(key, { offVariationId: 'on' }))
    const first = compileFlagSet(flagSetDefinition(flags))
    const all = evaluateAll(first, USER, 0)
    expect(valuesHash(all)).toBe(hashOf({ a: 'off', b: 'off', c: 'off' }))
    expect(valuesHash(evaluateAll(first, USER, 0))).toBe(valuesHash(all))
    expect(valuesHash(onlyFlags(all, (key) => key !== 'a'))).toBe(hashOf({ b: 'off', c: 'off' }))
    const changed = flags.map((flag) => (flag.key === 'b' ? { ...flag, isActive: false } : flag))
    const second = compileFlagSet(flagSetDefinition(changed), { previous: first })
    expect(valuesHash(evaluateAll(second, USER, 0))).toBe(hashOf({ a: 'off', b: 'on', c: 'off' }))
  })
})
