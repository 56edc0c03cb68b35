import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyConfiguration } from '../../test/draft/any-configuration.ts'
import { afterEdits, anyEdit } from '../../test/draft/any-edits.ts'
import { type Configuration, isSame, usedRollouts } from './configuration.ts'
import { type Conflict, mergeConfigurations, resolveConflicts } from './merge.ts'
import type { Side } from './merge-fields.ts'
import { validateConfiguration } from './validate.ts'

const numRuns = runs(500)
const anyEdits = fc.array(anyEdit, { maxLength: 5 })
const anySides = fc
  .record({ before: anyConfiguration, theirs: anyEdits, yours: anyEdits })
  .map(({ before, theirs, yours }) => ({
    before,
    theirs: { ...afterEdits(before, theirs, 1), revision: 2 },
    yours: afterEdits(before, yours, 2),
  }))
const anyThree = fc.record({
  before: anyConfiguration,
  theirs: anyConfiguration,
  yours: anyConfiguration,
})

type Facts = ReadonlyMap<string, { readonly item: string; readonly value: unknown }>

/** Returns what a configuration says, without any order, as values by name. */
function factsOf({ state, targetingRules, rollouts }: Configuration): Facts {
  const facts = new Map<string, { item: string; value: unknown }>()
  const add = (item: string, field: string, value: unknown) =>
    facts.set(`${item} ${field}`, { item, value })
  add('isActive', '', state.isActive)
  add('defaultVariation', '', state.defaultVariationId)
  add('offVariation', '', state.offVariationId)
  for (const { kind, keys, variationId } of state.targets) {
    for (const key of keys) add(JSON.stringify(['target', kind, key]), '', variationId)
  }
  for (const { flagId, variationIds } of state.prerequisites) add(flagId, '', variationIds)
  for (const { id, name, conditions, segmentId, variationId, rolloutId } of targetingRules) {
    add(id, 'name', name)
    add(id, 'conditions', conditions)
    add(id, 'segment', segmentId)
    add(id, 'serves', [variationId, rolloutId])
  }
  const used = usedRollouts({ state, targetingRules, rollouts, revision: 0 })
  for (const { id, name, bucketBy, salt, scheme, ...shares } of rollouts) {
    if (!used.has(id)) continue
    add(id, 'rolloutName', name)
    add(id, 'bucketing', [bucketBy, salt, scheme])
    add(id, 'shares', shares)
  }
  return facts
}

const isAbout = (conflicts: readonly Conflict[], item: string) =>
  conflicts.some((conflict) => conflict.id === item || JSON.stringify(conflict).includes(item))

const isOfRollout = (name: string) => /rolloutName|bucketing|shares/.test(name)

const asMap = (configuration: Configuration) =>
  Object.fromEntries([...factsOf(configuration)].map(([name, { value }]) => [name, value]))

describe('mergeConfigurations', () => {
  it('A merge with only your changes is your configuration, and with only theirs is theirs.', () => {
    fc.assert(
      fc.property(anyConfiguration, anyConfiguration, (before, after) => {
        const yours = mergeConfigurations({ before, theirs: before, yours: after })
        const theirs = mergeConfigurations({ before, theirs: after, yours: before })
        expect(yours).toMatchObject({ configuration: after, conflicts: [] })
        expect(theirs).toMatchObject({ configuration: after, conflicts: [] })
      }),
      { numRuns: runs(100) },
    )
  })

  it('A merge without a conflict has the same content if the sides are exchanged.', () => {
    let merged = 0
    fc.assert(
      fc.property(anySides, ({ before, theirs, yours }) => {
        const one = mergeConfigurations({ before, theirs, yours })
        fc.pre(one.conflicts.length === 0)
        const other = mergeConfigurations({ before, theirs: yours, yours: theirs })
        expect(other.conflicts).toEqual([])
        expect(asMap(other.configuration)).toEqual(asMap(one.configuration))
        merged += 1
      }),
      { numRuns },
    )
    expect(merged).toBeGreaterThan(numRuns / 10)
  })

  it('A change of one side that is not in conflict is in the result, and no other value is.', () => {
    fc.assert(
      fc.property(anySides, (sides) => {
        const { conflicts, configuration } = mergeConfigurations(sides)
        const [before, theirs, yours] = [sides.before, sides.theirs, sides.yours].map(factsOf)
        const merged = factsOf(configuration)
        for (const [name, { item }] of new Map([...(theirs ?? []), ...(yours ?? [])])) {
          const [was, their, your] = [before, theirs, yours].map((facts) => facts?.get(name)?.value)
          const isChanged = [their, your].map((value) => !isSame(was, value))
          if (isAbout(conflicts, item)) continue
          // A side without the item has removed it, or has no rule that uses the rollout.
          if (was !== undefined && (their === undefined || your === undefined)) continue
          // If each side replaces one of the uses of an unchanged rollout, none is left.
          if (!isChanged[0] && !isChanged[1] && isOfRollout(name)) continue
          const expected = isChanged[0] ? their : your
          if (isChanged[0] && isChanged[1]) expect(their).toEqual(your)
          expect([name, merged.get(name)?.value]).toEqual([name, expected])
        }
      }),
      { numRuns },
    )
  })

  it('A rule or target that one side removed and the other did not change is removed.', () => {
    fc.assert(
      fc.property(anySides, (sides) => {
        const { conflicts, configuration } = mergeConfigurations(sides)
        const [before, theirs, yours] = [sides.before, sides.theirs, sides.yours].map(factsOf)
        const merged = factsOf(configuration)
        for (const [name, { item }] of before ?? []) {
          if (theirs?.has(name) && yours?.has(name)) continue
          if (!isOfRollout(name) && !isAbout(conflicts, item)) expect(merged.has(name)).toBe(false)
        }
      }),
      { numRuns },
    )
  })

  it('Every merge and every resolution is a configuration without faults.', () => {
    const anySide = fc.constantFrom<Side>('before', 'theirs', 'yours')
    fc.assert(
      fc.property(fc.oneof(anyThree, anySides), fc.infiniteStream(anySide), (sides, choose) => {
        for (const side of Object.values(sides)) {
          expect(validateConfiguration(side, sides.before)).toEqual([])
        }
        const merge = mergeConfigurations(sides)
        const choices = new Map(
          merge.conflicts.map(({ id }) => [id, choose.next().value as Side] as const),
        )
        for (const result of [merge.configuration, resolveConflicts(merge, choices)]) {
          expect(validateConfiguration(result, sides.before)).toEqual([])
          for (const { variationId, rolloutId, kind, segmentId } of result.targetingRules) {
            expect(variationId === null || rolloutId === null).toBe(true)
            expect(kind === 'segment').toBe(segmentId !== null)
          }
          for (const items of [result.targetingRules, result.rollouts]) {
            expect(new Set(items.map(({ id }) => id)).size).toBe(items.length)
          }
        }
      }),
      { numRuns },
    )
  })

  it('Each conflict has its own id, and the chosen side of a rule is in the result.', () => {
    fc.assert(
      fc.property(anySides, fc.constantFrom<Side>('before', 'theirs', 'yours'), (sides, side) => {
        const merge = mergeConfigurations(sides)
        expect(new Set(merge.conflicts.map(({ id }) => id)).size).toBe(merge.conflicts.length)
        const choices = new Map(merge.conflicts.map(({ id }) => [id, side] as const))
        const { targetingRules } = resolveConflicts(merge, choices)
        for (const conflict of merge.conflicts) {
          if (conflict.kind !== 'ruleServes' && conflict.kind !== 'rule') continue
          const id = conflict.before?.id ?? conflict.yours?.id
          const { variationId, rolloutId } = targetingRules.find((rule) => rule.id === id) ?? {}
          const chosen = conflict[side]
          expect([variationId, rolloutId]).toEqual([chosen?.variationId, chosen?.rolloutId])
        }
      }),
      { numRuns },
    )
  })
})
