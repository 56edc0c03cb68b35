import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition, gradualFlag } from '../../test/definitions.ts'
import type { FlagDefinition, FlagSetDefinition } from '../model/definition.ts'
import { compileFlagSet } from './flag-set.ts'

const [A, B, C] = ['a', 'b', 'c'].map((key) => flagDefinition(key)) as [
  FlagDefinition,
  FlagDefinition,
  FlagDefinition,
]
const GRADUAL = gradualFlag('b', '2026-01-01T00:00:00Z')
const needsA = { flagId: A.id, variationIds: ['on'] }

/** Returns the keys of all flags, the key of each id, the dependencies and the malformed flags. */
function structureOf(definition: FlagSetDefinition, before?: FlagSetDefinition) {
  const previous = before && compileFlagSet(before)
  const flagSet = compileFlagSet(definition, { previous })
  const { flags, flagsById, dependencies, malformed, timestamps } = flagSet
  return {
    flags: Array.from(flags, ([key, flag]) => [key, flag.definition]),
    ids: Object.fromEntries(Array.from(flagsById, ([id, { key }]) => [id, key])),
    ...{ dependencies, malformed: [...malformed], timestamps },
  }
}

describe('A flag set that is compiled from a previous version', () => {
  const disabled = { ...B, isActive: false }
  it.each<[string, FlagDefinition[], FlagDefinition[]]>([
    ['a changed flag', [A, B, C], [A, disabled, C]],
    ['a flag with another id', [A, B, C], [A, { ...B, id: 'other' }, C]],
    [
      'two flags that have exchanged their ids',
      [A, B],
      [
        { ...A, id: B.id },
        { ...B, id: A.id },
      ],
    ],
    ['a flag that takes the id of a later one', [A, B], [{ ...A, id: B.id }, B]],
    [
      'a change of the first of two flags with one id',
      [{ ...A, id: B.id }, B],
      [{ ...A, id: B.id, isActive: false }, B],
    ],
    [
      'a change of the second of two flags with one id',
      [{ ...A, id: B.id }, B],
      [{ ...A, id: B.id }, disabled],
    ],
    ['flags in another order', [A, B, C], [C, disabled, A]],
    ['an added flag', [A, C], [A, disabled, C]],
    ['a removed flag', [A, B, C], [A, C]],
    ['a flag in place of another one', [A, B], [A, C]],
    ['a second flag with the key of the first', [A, B], [A, { ...B, key: 'a' }]],
    [
      'a change of a flag whose key an earlier flag has',
      [A, { ...B, key: 'a' }],
      [A, { ...disabled, key: 'a' }],
    ],
    ['a flag that has lost its shape', [A, B], [A, { ...B, rules: null as never }]],
    ['a flag that has regained its shape', [A, { ...B, rules: null as never }], [A, B]],
    ['a new prerequisite', [A, B], [A, { ...B, prerequisites: [needsA] }]],
    [
      'a new cycle',
      [{ ...A, prerequisites: [{ ...needsA, flagId: B.id }] }, B],
      [
        { ...A, prerequisites: [{ ...needsA, flagId: B.id }] },
        { ...B, prerequisites: [needsA] },
      ],
    ],
    [
      'a change of a malformed flag',
      [{ ...A, prerequisites: [needsA] }, B],
      [{ ...A, prerequisites: [needsA], offVariationId: 'off' }, B],
    ],
    [
      'a change beside a malformed flag',
      [{ ...A, prerequisites: [needsA] }, B],
      [{ ...A, prerequisites: [needsA] }, disabled],
    ],
    ['a flag that starts a gradual rollout', [A, B], [A, GRADUAL]],
    ['a flag that ends a gradual rollout', [A, GRADUAL], [A, B]],
    [
      'an inactive gradual rollout that is activated',
      [A, { ...GRADUAL, isActive: false }],
      [A, GRADUAL],
    ],
  ])('With %s, equals one that is compiled alone', (_, before, after) => {
    const definition = flagSetDefinition(structuredClone(after))
    expect(structureOf(definition, flagSetDefinition(before))).toEqual(structureOf(definition))
  })

  it('After a malformed version, equals one that is compiled alone', () => {
    const malformed = { ...flagSetDefinition([]), flags: undefined as never }
    const definition = flagSetDefinition([])
    expect(structureOf(definition, malformed)).toEqual(structureOf(definition))
    expect(structureOf(malformed, definition)).toEqual(structureOf(malformed))
  })

  it('Reuses the compiled form of unchanged definitions', () => {
    const previous = compileFlagSet(flagSetDefinition([A, B]))
    const next = compileFlagSet(flagSetDefinition([structuredClone(A), disabled]), { previous })
    expect(next.flags.get('a')).toBe(previous.flags.get('a'))
    expect(next.flags.get('b')).not.toBe(previous.flags.get('b'))
    expect(previous.flags.get('b')?.isActive).toBe(true)
  })
})
