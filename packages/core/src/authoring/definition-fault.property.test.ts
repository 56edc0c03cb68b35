import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyDefinition, anyPoison } from '../../test/arbitraries.ts'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { anyPlants, ODD_NAMES, oddValue, planted } from '../../test/odd-values.ts'
import { flagSetDefinitionSchema } from '../schema.ts'
import { definitionFaultIncrementally } from './definition-fault.ts'

/** Returns the path of the first fault, or `undefined` if there is none. */
function pathByGuards(definition: unknown): string | undefined {
  const work = definitionFaultIncrementally(definition)
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value?.path
  }
}

function pathBySchema(definition: unknown): string | undefined {
  const issue = flagSetDefinitionSchema.safeParse(definition).error?.issues[0]
  return issue?.path.map(String).join('.')
}

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

  it('The guards and the schema return the same path of a fault for any definition with replaced, inserted or removed members', () => {
    const counts = { accepted: 0, refused: 0 }
    const anyPlanted = fc.tuple(anyDefinition, anyPlants).map((parts) => planted(...parts))
    fc.assert(
      fc.property(fc.oneof(anyDefinition, anyPoison, anyPlanted), (definition) => {
        const path = pathByGuards(definition)
        expect(path).toBe(pathBySchema(definition))
        counts[path === undefined ? 'accepted' : 'refused'] += 1
      }),
      { numRuns: 3000 },
    )
    expect(counts.accepted).toBeGreaterThan(300)
    expect(counts.refused).toBeGreaterThan(300)
  })
})
