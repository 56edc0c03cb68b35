import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition } from '../../test/definitions.ts'
import { jsonOf, valuesOf } from '../all-flags.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import { hash128 } from '../hashing/hash128.ts'
import type { FlagDefinition } from '../model/definition.ts'
import { viewOf } from './batch-cache.ts'
import { evaluateTogether } from './evaluate-all.ts'
import { offsetsOf } from './flag-set-view.ts'
import { valuesHash } from './values-hash.ts'

const USER = { kind: 'user', key: 'user-1' }

function versionOf(value: string, previous?: FlagSet): FlagSet {
  const variations = [{ id: 'off', key: 'off', value }]
  const flag = flagDefinition('text', { type: 'string', variations })
  return compileFlagSet(flagSetDefinition([flagDefinition('a'), flag]), { previous })
}

function expectToServe(flagSet: FlagSet, value: string): void {
  const evaluation = evaluateTogether(flagSet, USER, 0)
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

  const variationsOf = (...values: readonly string[]) => {
    return values.map((value) => ({ id: value, key: value, value }))
  }
  const textFlag = (key: string, ...values: readonly string[]) => {
    const [defaultVariationId = ''] = values
    const variations = variationsOf(...values)
    return flagDefinition(key, { type: 'string', variations, defaultVariationId })
  }
  const first = ['a', 'b', 'c', 'd'].map((key) => textFlag(key, 'one', 'two'))

  /** Returns the view of a version after the version `first`, whose view has been used. */
  const viewAfter = (flags: readonly FlagDefinition[]) => {
    const before = compileFlagSet(flagSetDefinition(first))
    valuesHash(evaluateTogether(before, USER, 0))
    const flagSet = compileFlagSet(flagSetDefinition(flags), { previous: before })
    const view = viewOf(flagSet)
    const { unhashed } = view
    const values = valuesOf(evaluateTogether(flagSet, USER, 0))
    expect({ ...values }).toEqual(
      Object.fromEntries(flags.map(({ key, defaultVariationId }) => [key, defaultVariationId])),
    )
    expect(valuesHash(evaluateTogether(flagSet, USER, 0))).toBe(
      valuesHash(evaluateTogether(compileFlagSet(structuredClone(flagSet.definition)), USER, 0)),
    )
    expect(viewOf(flagSet).unhashed).toEqual([])
    return { isCopied: view.offsets === viewOf(before).offsets, unhashed }
  }

  it('A view copies the previous view and hashes only the flags that have changed', () => {
    expect(viewAfter(first)).toEqual({ isCopied: true, unhashed: [] })
    expect(viewAfter(first.with(2, textFlag('c', 'two', 'three')))).toEqual({
      isCopied: true,
      unhashed: [2],
    })
    expect(
      viewAfter([
        ...[textFlag('a', 'three', 'one'), ...first.slice(1, 3), textFlag('d', 'two', 'one')],
      ]),
    ).toEqual({ isCopied: true, unhashed: [0, 3] })
  })

  it('A view is rebuilt if a key, the number of flags or the number of variations has changed', () => {
    for (const flags of [
      first.slice(0, 3),
      [...first, textFlag('e', 'one', 'two')],
      first.with(3, textFlag('e', 'one', 'two')),
      first.with(1, textFlag('b', 'one', 'two', 'three')),
      first.with(1, textFlag('b', 'one')),
      // The total number of variations is the same.
      first.with(1, textFlag('b', 'one')).with(2, textFlag('c', 'one', 'two', 'three')),
    ]) {
      expect(viewAfter(flags)).toEqual({ isCopied: false, unhashed: [...flags.keys()] })
    }
  })

  it('A view hashes the changes of several versions if the hash of none of them was requested', () => {
    const versions = [first, first.with(1, textFlag('b', 'two', 'one'))]
    versions.push((versions[1] ?? []).with(3, textFlag('d', 'two', 'one')))
    let previous: FlagSet | undefined
    for (const flags of versions) {
      const flagSet = compileFlagSet(flagSetDefinition(flags), { previous })
      if (previous === undefined) valuesHash(evaluateTogether(flagSet, USER, 0))
      viewOf(flagSet)
      previous = flagSet
    }
    expect(previous && viewOf(previous).unhashed).toEqual([1, 3])
  })

  it('offsetsOf returns the index of the first value of each flag, and the number of all values', () => {
    const flags = [textFlag('a', 'one'), textFlag('b', 'one', 'two'), textFlag('c')]
    // Each flag has one more value, which stands for no variation.
    const { ordered } = compileFlagSet(flagSetDefinition(flags))
    expect([...offsetsOf(ordered)]).toEqual([0, 2, 5, 6])
    expect([...offsetsOf([])]).toEqual([0])
  })
})
