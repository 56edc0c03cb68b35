import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  gradualFlag,
  onFlag,
  onSegment,
  segmentDefinition,
  withRule,
} from '../../test/definitions.ts'
import { detailsOf } from '../all-flags.ts'
import { findIssues } from '../authoring/issues.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import type { FlagDefinition, FlagSetDefinition } from '../model/definition.ts'
import { compileFlagSet, type FlagSet } from './flag-set.ts'

const USER = { kind: 'user', key: 'user-1' }

const dependingOn = (key: string, ...others: string[]): FlagDefinition => {
  const prerequisites = others.map((other) => {
    return { flagId: `id of ${other}`, variationIds: ['off'] }
  })
  return flagDefinition(key, { prerequisites })
}

/** Versions of a flag set that differ by one or a few changes. */
const versions: Readonly<Record<string, FlagSetDefinition>> = {
  'no definitions': flagSetDefinition([]),
  'two flags': flagSetDefinition([flagDefinition('a'), flagDefinition('b')]),
  'another two flags': flagSetDefinition([flagDefinition('a'), flagDefinition('c')]),
  'a condition on a flag': flagSetDefinition([withRule('a', onFlag('b')), flagDefinition('b')]),
  'a condition on a flag that does not exist': flagSetDefinition([withRule('a', onFlag('b'))]),
  'a cycle of conditions': flagSetDefinition([
    withRule('a', onFlag('b')),
    withRule('b', onFlag('a')),
  ]),
  'a prerequisite': flagSetDefinition([dependingOn('a', 'b'), flagDefinition('b')]),
  'two prerequisites': flagSetDefinition([dependingOn('a', 'b', 'c'), flagDefinition('b')]),
  'a prerequisite that does not exist': flagSetDefinition([
    dependingOn('a', 'c'),
    flagDefinition('b'),
  ]),
  'a cycle of prerequisites': flagSetDefinition([dependingOn('a', 'b'), dependingOn('b', 'a')]),
  'an inactive flag in a cycle': flagSetDefinition([
    dependingOn('a', 'b'),
    { ...dependingOn('b', 'a'), isActive: false },
  ]),
  'a segment': flagSetDefinition([withRule('a', onSegment('s'))], [segmentDefinition('s')]),
  'another segment': flagSetDefinition([withRule('a', onSegment('s'))], [segmentDefinition('t')]),
  'a segment that depends on itself': flagSetDefinition(
    [withRule('a', onSegment('s'))],
    [segmentDefinition('s', { rules: [onSegment('s')] })],
  ),
  'a gradual rollout': flagSetDefinition([
    gradualFlag('a', '2026-01-01T00:00:00Z'),
    flagDefinition('b'),
  ]),
  'a later gradual rollout': flagSetDefinition([gradualFlag('a', '2026-01-02T00:00:00Z')]),
  'two gradual rollouts': flagSetDefinition([
    gradualFlag('a', '2026-01-01T00:00:00Z'),
    gradualFlag('b', '2026-01-03T00:00:00Z'),
  ]),
}

/** Returns the dependencies, faults and results of a flag set as plain data. */
function summaryOf(flagSet: FlagSet) {
  return {
    nodes: flagSet.dependencies.nodes,
    unresolvable: [...flagSet.dependencies.unresolvable].sort(),
    malformed: [...flagSet.malformed].sort(),
    timestamps: flagSet.timestamps,
    issues: findIssues(flagSet),
    answers: detailsOf(evaluateTogether(flagSet, USER, Date.parse('2026-01-01T01:00:00Z'))),
  }
}

const malformedIn = (version: string) => {
  return [...compileFlagSet(versions[version] ?? flagSetDefinition([])).malformed]
}

describe('findDependencies', () => {
  it.each([
    ['two flags', []],
    ['a condition on a flag', []],
    ['a condition on a flag that does not exist', []],
    ['a cycle of conditions', ['a', 'b']],
    ['a prerequisite', []],
    ['two prerequisites', ['a']],
    ['a prerequisite that does not exist', ['a']],
    ['a cycle of prerequisites', ['a', 'b']],
    ['an inactive flag in a cycle', []],
    ['a segment', []],
    ['another segment', ['a']],
    ['a segment that depends on itself', ['a']],
  ])('A flag set with %s has these malformed flags: %j', (version, malformed) => {
    expect(malformedIn(version)).toEqual(malformed)
  })

  it.each(Object.keys(versions))(
    'A flag set with %s has the same dependencies after any previous version',
    (name) => {
      const definition = versions[name] ?? flagSetDefinition([])
      const alone = summaryOf(compileFlagSet(definition))
      for (const [other, before] of Object.entries(versions)) {
        const previous = compileFlagSet(before)
        summaryOf(previous)
        const after = compileFlagSet(structuredClone(definition), { previous })
        expect([other, summaryOf(after)]).toEqual([other, alone])
      }
    },
  )

  it('The dependencies and the timestamps of gradual rollouts are reused if they are unchanged', () => {
    for (const definition of Object.values(versions)) {
      const before = compileFlagSet(definition)
      const flags = definition.flags.map((flag) => ({ ...flag, offVariationId: 'off' }))
      const after = compileFlagSet({ ...definition, flags, version: 2 }, { previous: before })
      expect(after.dependencies).toBe(before.dependencies)
      const same = compileFlagSet(structuredClone(definition), { previous: before })
      expect(same.timestamps).toBe(before.timestamps)
    }
  })
})
