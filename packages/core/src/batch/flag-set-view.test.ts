import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition } from '../../test/definitions.ts'
import { evaluateAll, jsonOf, valuesOf } from '../all-flags.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import { hash128 } from '../hashing/hash128.ts'
import { valuesHash } from './values-hash.ts'

const USER = { kind: 'user', key: 'user-1' }

function versionOf(value: string, previous?: FlagSet): FlagSet {
  const variations = [{ id: 'off', key: 'off', value }]
  const flag = flagDefinition('text', { type: 'string', variations })
  return compileFlagSet(flagSetDefinition([flagDefinition('a'), flag]), { previous })
}

function expectToServe(flagSet: FlagSet, value: string): void {
  const evaluation = evaluateAll(flagSet, USER, 0)
  const text = JSON.stringify({ a: false, text: value })
  expect({ ...valuesOf(evaluation) }).toEqual({ a: false, text: value })
  expect(jsonOf(evaluation)).toBe(text)
  const [first, second] = [hash128('"a":false'), hash128(`"text":"${value}"`)]
  const together = BigInt(`0x${first}`) ^ BigInt(`0x${second}`)
  expect(valuesHash(evaluation)).toBe(together.toString(16).padStart(32, '0'))
}

describe('FlagSetView', () => {
  it('The views of successive versions are independent, in any order of use', () => {
    const first = versionOf('one')
    expectToServe(first, 'one')
    const second = versionOf('two', first)
    expectToServe(second, 'two')
    const third = versionOf('three', second)
    expectToServe(third, 'three')
    expectToServe(first, 'one')
    expectToServe(second, 'two')
  })
})
