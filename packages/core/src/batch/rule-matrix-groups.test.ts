import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
  withRule,
} from '../../test/definitions.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import type { FlagDefinition } from '../model/definition.ts'
import { ruleMatrixOf } from './batch-cache.ts'

type Range = readonly [from: number, to: number]

const isPro = { attribute: 'plan', operator: 'eq', value: 'pro' }

function flagsOf(from: number, to: number): FlagDefinition[] {
  return Array.from({ length: to - from }, (_, at) => withRule(`flag-${from + at}`, isPro))
}

/** Compiles the next version of a flag set and its rule matrix. */
function versionOf(flags: readonly FlagDefinition[], previous?: FlagSet): FlagSet {
  const flagSet = compileFlagSet(flagSetDefinition(flags), { previous })
  ruleMatrixOf(flagSet)
  return flagSet
}

function groupsIn(flagSet: FlagSet) {
  return ruleMatrixOf(flagSet).shards.map(({ group }) => group)
}

/** Changes the flags of each range, one version for each range, and returns the last version. */
function afterChanges(count: number, ...changes: readonly Range[]): FlagSet {
  let flags = flagsOf(0, count)
  let flagSet = versionOf(flags)
  for (const [from, to] of changes) {
    flags = flags.map((flag, at) => {
      return at >= from && at < to ? { ...flag, id: `${flag.id}, changed` } : flag
    })
    flagSet = versionOf(flags, flagSet)
  }
  return flagSet
}

/** Returns the number of flags in each group. */
function sizesAfter(count: number, ...changes: readonly Range[]): number[] {
  return groupsIn(afterChanges(count, ...changes)).map(({ flags }) => flags.length)
}

describe('The groups of a rule matrix', () => {
  it('All flags are indexed again if more than half of them have been added or removed', () => {
    // A changed flag counts twice, because its earlier form is removed.
    expect(sizesAfter(100, [0, 25])).toEqual([100, 25])
    expect(sizesAfter(100, [0, 26])).toEqual([100])
    const first = versionOf(flagsOf(0, 100))
    const sizesOf = (flags: readonly FlagDefinition[]) => {
      return groupsIn(versionOf(flags, first)).map((group) => group.flags.length)
    }
    expect(sizesOf(flagsOf(0, 200))).toEqual([100, 100])
    expect(sizesOf(flagsOf(0, 201))).toEqual([201])
    expect(sizesOf(flagsOf(0, 67))).toEqual([100])
    expect(sizesOf(flagsOf(0, 66))).toEqual([66])
  })

  it('The second group is rebuilt for every change while it contains fewer than 32 flags', () => {
    expect(sizesAfter(400, [0, 30], [30, 31])).toEqual([400, 31])
    expect(sizesAfter(400, [0, 31], [31, 32])).toEqual([400, 31, 1])
    expect(sizesAfter(400, [0, 31], [40, 41], [50, 51])).toEqual([400, 31, 2])
  })

  it('The second group is rebuilt if the number of later changes exceeds a limit that grows with the group', () => {
    expect(sizesAfter(400, [0, 32], [32, 52])).toEqual([400, 32, 20])
    expect(sizesAfter(400, [0, 32], [32, 53])).toEqual([400, 53])
    expect(sizesAfter(400, [0, 32], [0, 8])).toEqual([400, 32, 8])
    expect(sizesAfter(400, [0, 32], [0, 9])).toEqual([400, 32])
  })

  it('A version without changes has the same groups', () => {
    for (const flagSet of [
      afterChanges(400),
      afterChanges(400, [0, 40]),
      afterChanges(400, [0, 40], [40, 41]),
    ]) {
      const same = versionOf(flagSet.definition.flags, flagSet)
      expect(ruleMatrixOf(same)).not.toBe(ruleMatrixOf(flagSet))
      const groups = groupsIn(flagSet)
      expect(groupsIn(same)).toHaveLength(groups.length)
      for (const [at, group] of groupsIn(same).slice(0, 2).entries()) {
        expect(group).toBe(groups[at])
      }
    }
  })

  it('The first and the second group are the same objects after a change of another flag', () => {
    const before = afterChanges(400, [0, 40])
    const changed = before.definition.flags.with(50, withRule('flag-50', isPro, isPro))
    const after = versionOf(changed, before)
    expect(groupsIn(after)).toHaveLength(3)
    expect(groupsIn(after).slice(0, 2)).toEqual(groupsIn(before))
    expect(groupsIn(after)[0]).toBe(groupsIn(before)[0])
    expect(groupsIn(after)[1]).toBe(groupsIn(before)[1])
  })

  it('A rule matrix contains the active flags with targets or rules, except malformed flags', () => {
    const target = { kind: 'user', keys: ['user-1'], variationId: 'on' }
    const onFlag = (attribute: string) => ({ attribute, operator: 'flag_is', value: 'on' })
    const prerequisites = [{ flagId: 'id of e', variationIds: ['on'] }]
    const flags = [
      flagDefinition('a', { rules: [ruleDefinition({ segmentId: 'x' })] }),
      { ...withRule('inactive', isPro), isActive: false },
      flagDefinition('c', { targets: [target] }),
      flagDefinition('without rules'),
      flagDefinition('without rules, with a prerequisite', { prerequisites }),
      { ...withRule('e', isPro), prerequisites: [] },
      flagDefinition('f', { rules: [ruleDefinition({ segmentId: 'y' })], prerequisites }),
      withRule('malformed', onFlag('malformed')),
      flagDefinition('h', { rules: [ruleDefinition({ segmentId: 'x' })] }),
      withRule('i', onFlag('a')),
    ]
    const segments = ['x', 'y', 'unused'].map((id) => segmentDefinition(id))
    const flagSet = compileFlagSet(flagSetDefinition(flags, segments))
    const { segments: indexed, sources } = ruleMatrixOf(flagSet)
    const grouped = groupsIn(flagSet).flatMap((group) => group.flags.map(({ key }) => key))
    expect(grouped).toEqual(['a', 'c', 'e', 'f', 'h', 'i'])
    expect(indexed.ids).toEqual(['x', 'y'])
    expect(sources.map(({ name }) => name)).toEqual(['key of user', 'attribute plan'])
  })

  it('The flags of a group are sorted by the rest of the salt and the bucketing key of their first rollouts', () => {
    const rolledOut = (key: string, salt: string, bucketBy: string) => {
      const ranges = [{ variationId: 'on', from: 0, to: 100_000 }]
      const basis = { id: 'r', scheme: 'ff', strategy: 'percentage', ranges } as const
      const rules = [
        ruleDefinition({ conditions: [isPro] }),
        ruleDefinition({ id: 'split', orderIndex: 1, variationId: null, rolloutId: 'r' }),
      ]
      return flagDefinition(key, { rules, rollouts: [{ ...basis, salt, bucketBy }] })
    }
    const flags = [
      ...[
        rolledOut('a', 'abc', 'user.key'),
        withRule('b', isPro),
        rolledOut('c', 'ab', 'user.key'),
      ],
      ...[
        rolledOut('d', 'abc', 'plan'),
        rolledOut('e', 'abcdefg', 'user.key'),
        withRule('f', isPro),
      ],
    ]
    const [group] = groupsIn(versionOf(flags))
    expect(group?.flags.map(({ key }) => key)).toEqual(['a', 'e', 'b', 'f', 'c', 'd'])
  })

  it('A shard contains only the flags and rule rows that still exist', () => {
    const flagSet = afterChanges(100, [0, 2], [97, 100])
    const [first, second] = ruleMatrixOf(flagSet).shards
    expect(first?.group.flags).toHaveLength(100)
    expect(first?.flags).toHaveLength(4 * 95)
    expect([...(first?.possible ?? [])]).toEqual([~0b11, -1, -1, 1])
    expect(second?.flags).toHaveLength(4 * 5)
  })
})
