import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { pathByGuards, pathBySchema } from '../../test/fault-paths.ts'
import { ODD_NAMES, oddValue } from '../../test/odd-values.ts'
import { runToEnd } from '../model/incremental.ts'
import { definitionFaultIncrementally } from './definition-fault.ts'

const condition = { attribute: 'plan', operator: 'eq', value: 'pro', negate: true }
const range = { variationId: 'on', from: 0, to: 100_000 }
const rolloutBasis = { bucketBy: 'user.key', salt: 'x', scheme: 'ff' }

/** A definition with all existing fields. */
const COMPLETE = {
  ...flagSetDefinition(
    [
      flagDefinition('checkout', {
        clientVisible: false,
        offVariationId: 'off',
        targets: [{ variationId: 'on', kind: 'user', keys: ['user-1'] }],
        prerequisites: [{ flagId: 'other', variationIds: ['on'] }],
        rules: [ruleDefinition({ conditions: [condition], segmentId: 's', rolloutId: 'r-1' })],
        rollouts: [
          { ...rolloutBasis, id: 'r-1', strategy: 'variant', ranges: [range], totalWeight: 99 },
          {
            ...rolloutBasis,
            id: 'r-2',
            strategy: 'gradual',
            variationId: 'on',
            targetPercentage: 50,
            increment: 10,
            intervalHours: 0.5,
            startAt: '2026-01-01T00:00:00.000Z',
          },
        ],
      }),
    ],
    [segmentDefinition('s', { rules: [condition], included: ['a'], excluded: ['b'] })],
  ),
  clientVersion: 1,
}

/** Values at the limits of fields. Each value is invalid for at least one field. */
const LIMITS: readonly unknown[] = [
  ...[-1, -0.001, 0, 0.5, 1, 99.99, 100, 100.01, 100_000, 100_001, 2 ** 53 - 1, 2 ** 53, 1e300],
  ...[Number.MIN_VALUE, Number.POSITIVE_INFINITY, Number.NaN, true, null, [], [1], {}],
  ...['', 'boolean', 'json', 'AND', 'and', 'NOT', 'percentage', 'gradual', 'toString', '__proto__'],
  ...['2026-01-01', '2026-01-01T00:00:00', '2026-02-30T00:00:00Z', '2026-01-01t00:00:00+02:00'],
  ...[
    { variationId: 'on', from: 2, to: 1 },
    { variationId: 'on', from: 1, to: 1 },
  ],
]

/** Returns the path of every member of a value, as a list of names. */
function pathsIn(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) => [
    [name],
    ...pathsIn(child).map((path) => [name, ...path]),
  ])
}

/**
 * Copies a value, calls `change` with the parent and the name of a member, and returns the copy.
 */
function changed(
  path: readonly string[],
  change: (parent: Record<string, unknown>, name: string) => void,
): unknown {
  const copy = structuredClone(COMPLETE) as unknown as Record<string, unknown>
  let parent = copy
  for (const name of path.slice(0, -1)) parent = parent[name] as Record<string, unknown>
  change(parent, path.at(-1) ?? '')
  return copy
}

describe('definitionFaultIncrementally and flagSetDefinitionSchema', () => {
  it('The guards and the schema accept a definition with all fields and with unknown fields', () => {
    expect(pathByGuards(COMPLETE)).toBe(undefined)
    expect(pathsIn(COMPLETE).length).toBeGreaterThan(70)
    for (const path of pathsIn(COMPLETE)) {
      const definition = changed(path, (parent) => {
        if (!Array.isArray(parent)) parent['later'] = 1
      })
      expect([pathByGuards(definition), pathBySchema(definition)]).toEqual([undefined, undefined])
    }
  })

  it.each(pathsIn(COMPLETE).map((path) => path.join('.')))(
    'The guards and the schema return the same path of a fault if %s is replaced or absent',
    (path) => {
      const names = path.split('.')
      const odd = ODD_NAMES.map((name) => oddValue(name))
      const definitions = [
        ...[...LIMITS, ...odd].map((value) =>
          changed(names, (parent, name) => {
            parent[name] = value
          }),
        ),
        changed(names, (parent, name) => {
          delete parent[name]
        }),
      ]
      for (const definition of definitions) {
        expect(pathByGuards(definition)).toBe(pathBySchema(definition))
      }
    },
  )

  it('The guards and the schema return the same path of a fault for values that are not definitions', () => {
    for (const value of [...LIMITS, ...ODD_NAMES.map((name) => oddValue(name))]) {
      expect(pathByGuards(value)).toBe(pathBySchema(value))
    }
  })
})

describe('definitionFaultIncrementally', () => {
  const flags = ['a', 'b', 'c', 'd', 'e'].map((key) => flagDefinition(key))
  const faulty = { ...flagDefinition('f'), key: 7 }

  it.each([
    [[], 'must be an object'],
    [{ ...COMPLETE, version: -1 }, 'must be an integer from 0 to 9007199254740991'],
    [{ ...COMPLETE, flags: {} }, 'must be an array'],
    [{ ...COMPLETE, flags: [{ ...flags[0], targets: 1 }] }, 'must be an array'],
    [{ ...COMPLETE, flags: [faulty] }, 'must be a string'],
    [
      { ...COMPLETE, flags: [{ ...flags[0], type: 'date' }] },
      'must be one of boolean, string, number, json',
    ],
  ])('definitionFaultIncrementally describes the expected value: %#', (definition, message) => {
    expect(runToEnd(definitionFaultIncrementally(definition))?.message).toBe(message)
  })

  it('The message of a range whose bounds are reversed names its fields', () => {
    const rollout = {
      ...rolloutBasis,
      id: 'r',
      strategy: 'variant',
      ranges: [{ ...range, to: -0 }],
    }
    const reversed = { ...rollout, ranges: [{ variationId: 'on', from: 2, to: 1 }] }
    const faultOf = (rollouts: readonly unknown[]) => {
      const definition = { ...COMPLETE, flags: [{ ...flags[0], rollouts }] }
      return runToEnd(definitionFaultIncrementally(definition))
    }
    expect(faultOf([rollout])).toBeUndefined()
    expect(faultOf([rollout, reversed])).toEqual({
      path: 'flags.0.rollouts.1.ranges.0',
      message: '`from` must not be greater than `to`',
    })
  })

  it('definitionFaultIncrementally skips the parts that were checked before', () => {
    const definition = { ...COMPLETE, flags: [flags[0], faulty], segments: [] }
    const pathWith = (...checked: unknown[]) => {
      return runToEnd(definitionFaultIncrementally(definition, new Set(checked)))?.path
    }
    expect(pathWith()).toBe('flags.1.key')
    expect(pathWith(flags[0])).toBe('flags.1.key')
    expect(pathWith(faulty)).toBeUndefined()
  })

  it('definitionFaultIncrementally yields after every fourth flag and segment', () => {
    const chunks = (count: number) => {
      const segments = flags.slice(0, count).map(({ key }) => segmentDefinition(key))
      const work = definitionFaultIncrementally({ version: 1, flags: [], segments })
      return [...work].length
    }
    expect([0, 1, 4, 5].map(chunks)).toEqual([0, 1, 1, 2])
  })
})
