import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition } from '../../test/definitions.ts'
import { jsonOf, onlyFlags, valuesOf } from '../all-flags.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import { hash128 } from '../hashing/hash128.ts'
import { evaluateTogether } from './evaluate-all.ts'
import { valuesHash } from './values-hash.ts'

const USER = { kind: 'user', key: 'user-1' }

/** Returns the hash of flags that serve these variations. */
function hashOf(served: Readonly<Record<string, 'on' | 'off'>>): string {
  const flags = Object.entries(served).map(([key, defaultVariationId]) => {
    return flagDefinition(key, { defaultVariationId })
  })
  return valuesHash(evaluateTogether(compileFlagSet(flagSetDefinition(flags)), USER, 0))
}

function xor(...hashes: readonly string[]): string {
  const sum = hashes.reduce((all, hash) => all ^ BigInt(`0x${hash}`), 0n)
  return sum.toString(16).padStart(32, '0')
}

describe('valuesHash', () => {
  it('valuesHash returns the bitwise XOR of the hashes of the members of the JSON text', () => {
    expect(hashOf({})).toBe('0'.repeat(32))
    expect(hashOf({ a: 'on' })).toBe(hash128('"a":true'))
    expect(hashOf({ a: 'off', b: 'on', c: 'off' })).toBe(
      xor(hash128('"a":false'), hash128('"b":true'), hash128('"c":false')),
    )
  })

  it('valuesHash returns the hash of any evaluation of all flags or of several flags', () => {
    const flags = ['a', 'b', 'c'].map((key) => flagDefinition(key, { offVariationId: 'on' }))
    const first = compileFlagSet(flagSetDefinition(flags))
    const all = evaluateTogether(first, USER, 0)
    expect(valuesHash(all)).toBe(hashOf({ a: 'off', b: 'off', c: 'off' }))
    expect(valuesHash(evaluateTogether(first, USER, 0))).toBe(valuesHash(all))
    expect(valuesHash(onlyFlags(all, (key) => key !== 'a'))).toBe(hashOf({ b: 'off', c: 'off' }))
    const changed = flags.map((flag) => (flag.key === 'b' ? { ...flag, isActive: false } : flag))
    const second = compileFlagSet(flagSetDefinition(changed), { previous: first })
    expect(valuesHash(evaluateTogether(second, USER, 0))).toBe(
      hashOf({ a: 'off', b: 'on', c: 'off' }),
    )
  })

  it('valuesHash returns the hash of the evaluated version, in any order of use', () => {
    const serving: Record<string, 'on' | 'off'> = { a: 'off', b: 'off', c: 'off', d: 'off' }
    const ask = [
      'values',
      'hash',
      'nothing',
      'values',
      'nothing',
      'hash',
      'hash',
      'values',
    ] as const
    let previous = compileFlagSet(flagSetDefinition([]))
    for (const [change, asked] of ask.entries()) {
      const key = 'abcd'.charAt((3 * change) % 4)
      serving[key] = serving[key] === 'on' ? 'off' : 'on'
      const flags = Object.entries(serving).map(([name, defaultVariationId]) => {
        return flagDefinition(name, { defaultVariationId })
      })
      const flagSet = compileFlagSet(flagSetDefinition(flags), { previous })
      const evaluation = evaluateTogether(flagSet, USER, 0)
      const isOn = Object.entries(serving).map(([name, served]) => [name, served === 'on'])
      if (asked === 'values') expect({ ...valuesOf(evaluation) }).toEqual(Object.fromEntries(isOn))
      if (asked === 'hash') expect(valuesHash(evaluation)).toBe(hashOf(serving))
      previous = flagSet
    }
  })

  it('valuesHash is correct after a flag gets more variations or another key', () => {
    const flag = flagDefinition('a', { defaultVariationId: 'on' })
    const on = { id: 'on', key: 'on', value: 'true' }
    const third = { id: 'third', key: 'third', value: 'false' }
    const versions = [
      [flag, flagDefinition('b', { defaultVariationId: 'on' })],
      [{ ...flag, variations: [third, on] }, flagDefinition('b', { defaultVariationId: 'on' })],
      [
        { ...flag, variations: [third, third, third, third, on] },
        flagDefinition('b', { defaultVariationId: 'on' }),
      ],
      [{ ...flag, key: 'A', variations: [on] }, flagDefinition('b', { defaultVariationId: 'on' })],
    ]
    let previous = compileFlagSet(flagSetDefinition([]))
    for (const flags of versions) {
      const flagSet = compileFlagSet(flagSetDefinition(flags), { previous })
      const evaluation = evaluateTogether(flagSet, USER, 0)
      const expected = xor(...flags.map(({ key }) => hash128(`"${key}":true`)))
      expect(valuesHash(evaluation)).toBe(expected)
      expect(jsonOf(evaluation)).toBe(JSON.stringify(valuesOf(evaluation)))
      previous = flagSet
    }
  })
})
