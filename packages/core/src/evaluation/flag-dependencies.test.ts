import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  gradualFlag,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { detailsOf, evaluateAll } from '../all-flags.ts'
import { findIssues } from '../authoring/issues.ts'
import type { ConditionDefinition, FlagDefinition, FlagSetDefinition } from '../model/definition.ts'
import { compileFlagSet, type FlagSet } from './flag-set.ts'

const USER = { kind: 'user', key: 'user-1' }

const asksFlag = (attribute: string): ConditionDefinition => {
  return { attribute, operator: 'flag_is', value: 'on' }
}
const asksSegment = (value: string): ConditionDefinition => {
  return { attribute: '', operator: 'in_segment', value }
}
const withRule = (key: string, ...conditions: ConditionDefinition[]) => {
  return flagDefinition(key, { rules: [ruleDefinition({ conditions })] })
}
const dependingOn = (key: string, ...others: string[]): FlagDefinition => {
  const prerequisites = others.map((other) => {
    return { flagId: `id of ${other}`, variationIds: ['off'] }
  })
  return flagDefinition(key, { prerequisites })
}

/** Each is one change, or a few, away from the others. */
const versions: Readonly<Record<string, FlagSetDefinition>> = {
  nothing: flagSetDefinition([]),
  'two flags': flagSetDefinition([flagDefinition('a'), flagDefinition('b')]),
  'another two flags': flagSetDefinition([flagDefinition('a'), flagDefinition('c')]),
  'a condition on a flag': flagSetDefinition([withRule('a', asksFlag('b')), flagDefinition('b')]),
  'a condition on a flag that is not there': flagSetDefinition([withRule('a', asksFlag('b'))]),
  'conditions in a circle': flagSetDefinition([
    withRule('a', asksFlag('b')),
    withRule('b', asksFlag('a')),
  ]),
  'a prerequisite': flagSetDefinition([dependingOn('a', 'b'), flagDefinition('b')]),
  'two prerequisites': flagSetDefinition([dependingOn('a', 'b', 'c'), flagDefinition('b')]),
  'a prerequisite that is not there': flagSetDefinition([
    dependingOn('a', 'c'),
    flagDefinition('b'),
  ]),
  'prerequisites in a circle': flagSetDefinition([dependingOn('a', 'b'), dependingOn('b', 'a')]),
  'an inactive flag in the circle': flagSetDefinition([
    dependingOn('a', 'b'),
    { ...dependingOn('b', 'a'), isActive: false },
  ]),
  'a segment': flagSetDefinition([withRule('a', asksSegment('s'))], [segmentDefinition('s')]),
  'another segment': flagSetDefinition([withRule('a', asksSegment('s'))], [segmentDefinition('t')]),
  'a segment that needs itself': flagSetDefinition(
    [withRule('a', asksSegment('s'))],
    [segmentDefinition('s', { rules: [asksSegment('s')] })],
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

/** All that is known of a flag set without the objects it is made of. */
function summaryOf(flagSet: FlagSet) {
  return {
    nodes: flagSet.dependencies.nodes,
    unresolvable: [...flagSet.dependencies.unresolvable].sort(),
    malformed: [...flagSet.malformed].sort(),
    timestamps: flagSet.timestamps,
    issues: findIssues(flagSet),
    answers: detailsOf(evaluateAll(flagSet, USER, Date.parse('2026-01-01T01:00:00Z'))),
  }
}

const malformedIn = (version: string) => {
  return [...compileFlagSet(versions[version] ?? flagSetDefinition([])).malformed]
}

describe('the dependencies of a flag set', () => {
  it.each([
    ['two flags', []],
    ['a condition on a flag', []],
    ['a condition on a flag that is not there', []],
    ['conditions in a circle', ['a', 'b']],
    ['a prerequisite', []],
    ['two prerequisites', ['a']],
    ['a prerequisite that is not there', ['a']],
    ['prerequisites in a circle', ['a', 'b']],
    ['an inactive flag in the circle', []],
    ['a segment', []],
    ['another segment', ['a']],
    ['a segment that needs itself', ['a']],
  ])('with %s leave no answer to these flags: %j', (version, malformed) => {
    expect(malformedIn(version)).toEqual(malformed)
  })

  it.each(Object.keys(versions))('are those of %s, whatever version was before', (name) => {
    const definition = versions[name] ?? flagSetDefinition([])
    const alone = summaryOf(compileFlagSet(definition))
    for (const [other, before] of Object.entries(versions)) {
      const previous = compileFlagSet(before)
      summaryOf(previous)
      const after = compileFlagSet(structuredClone(definition), { previous })
      expect([other, summaryOf(after)]).toEqual([other, alone])
    }
  })

  it('are kept as long as they stay the same, and so are the timestamps of gradual rollouts', () => {
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
