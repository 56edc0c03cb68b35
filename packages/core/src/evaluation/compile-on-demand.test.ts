import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  gradualFlag,
  onSegment,
  ruleDefinition,
  segmentDefinition,
  withRule,
} from '../../test/definitions.ts'
import { prepareIncrementally, valuesOf } from '../all-flags.ts'
import { findIssues } from '../authoring/issues.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import type { FlagDefinition, SegmentDefinition } from '../model/definition.ts'
import type { BucketingScheme, RegexEngine } from '../model/extensions.ts'
import { runToEnd } from '../model/incremental.ts'
import { evaluateFlag, evaluateValue } from './evaluate.ts'
import { compileFlagSet } from './flag-set.ts'

const USER = { kind: 'user', key: 'user-1', it: 'text' }

const matching = (pattern: string) => ({ attribute: 'it', operator: 'matches', value: pattern })

/** Returns extensions that record the compiled patterns and salts. */
function recorder() {
  const seen: string[] = []
  const regex: RegexEngine = (pattern) => {
    seen.push(pattern)
    return (text) => text.includes(pattern)
  }
  const scheme: BucketingScheme = ({ salt }) => {
    seen.push(salt)
    return () => 0
  }
  return { seen, extensions: { regex, schemes: new Map([['other', scheme]]) } }
}

/** Returns a flag with a rollout of a foreign scheme. */
function foreignFlag(key: string, salt: string): FlagDefinition {
  const [rollout] = gradualFlag(key, '2020-01-01T00:00:00Z').rollouts
  const rollouts = rollout === undefined ? [] : [{ ...rollout, salt, scheme: 'other' }]
  return { ...gradualFlag(key, '2020-01-01T00:00:00Z'), rollouts }
}

describe('A flag set', () => {
  const definition = flagSetDefinition(
    [
      withRule('a', matching('te')),
      withRule('b', matching('xt')),
      withRule('in s', onSegment('s')),
      foreignFlag('foreign', 'salt'),
      flagDefinition('needs a', {
        prerequisites: [{ flagId: 'id of a', variationIds: ['on'] }],
      }),
    ],
    [segmentDefinition('s', { rules: [matching('ex')] })],
  )

  it('A flag and what it depends on are compiled when the flag is first evaluated', () => {
    const { seen, extensions } = recorder()
    const flagSet = compileFlagSet(definition, { extensions })
    expect(seen).toEqual([])
    expect(evaluateValue(flagSet, 'b', USER, 0)).toBe(true)
    expect(seen).toEqual(['xt'])
    evaluateValue(flagSet, 'b', USER, 0)
    expect(seen).toEqual(['xt'])
    evaluateValue(flagSet, 'in s', USER, 0)
    evaluateValue(flagSet, 'needs a', USER, 0)
    evaluateValue(flagSet, 'foreign', USER, 0)
    expect(seen).toEqual(['xt', 'ex', 'te', 'salt'])
  })

  it('The evaluation of all flags and findIssues compile every flag and segment once', () => {
    for (const use of [
      (flagSet: ReturnType<typeof compileFlagSet>) => evaluateTogether(flagSet, USER, 0),
      findIssues,
      (flagSet: ReturnType<typeof compileFlagSet>) => runToEnd(prepareIncrementally(flagSet)),
    ]) {
      const { seen, extensions } = recorder()
      const flagSet = compileFlagSet(definition, { extensions })
      use(flagSet)
      expect([...seen].sort()).toEqual(['ex', 'salt', 'te', 'xt'])
      evaluateTogether(flagSet, USER, 0)
      expect(seen).toHaveLength(4)
    }
  })

  it('The dependencies and timestamps are known before any flag is compiled', () => {
    const { seen, extensions } = recorder()
    const flags = [...definition.flags, withRule('broken', matching('te'), onSegment('nowhere'))]
    const flagSet = compileFlagSet({ ...definition, flags }, { extensions })
    expect([...flagSet.malformed]).toEqual(['broken'])
    expect(flagSet.dependencies.nodes).toContainEqual({
      name: 'flag:needs a',
      dependsOn: ['flag:a'],
    })
    expect(flagSet.timestamps).toHaveLength(3)
    expect(seen).toEqual([])
  })

  it('A condition that needs a missing extension breaks only its flag', () => {
    const flagSet = compileFlagSet(definition)
    expect([...flagSet.malformed]).toEqual(['a', 'b', 'in s', 'needs a'])
    expect(evaluateFlag(flagSet, 'a', USER, 0).reason).toBe('ERROR')
  })

  it('A version reuses compiled flags, and does not compile the other flags', () => {
    const { seen, extensions } = recorder()
    const before = compileFlagSet(definition, { extensions })
    evaluateValue(before, 'a', USER, 0)
    const flags = [...definition.flags.map((flag) => structuredClone(flag)), flagDefinition('c')]
    const after = compileFlagSet({ ...definition, flags }, { previous: before, extensions })
    expect(seen).toEqual(['te'])
    for (const key of before.flags.keys()) expect(after.flags.get(key)).toBe(before.flags.get(key))
    evaluateValue(after, 'a', USER, 0)
    evaluateValue(after, 'b', USER, 0)
    evaluateValue(before, 'b', USER, 0)
    expect(seen).toEqual(['te', 'xt'])
  })

  it('A flag that is evaluated while it is being compiled incrementally keeps its outcomes', () => {
    const conditions = Array.from({ length: 200 }, (_, at) => matching(`${at}`))
    const flags = [flagDefinition('flag', { rules: [ruleDefinition({ conditions })] })]
    const { extensions } = recorder()
    const flagSet = compileFlagSet(flagSetDefinition(flags), { extensions })
    const work = prepareIncrementally(flagSet)
    expect(work.next().done).toBe(false)
    const first = flagSet.flags.get('flag')?.fallback
    expect(evaluateValue(flagSet, 'flag', USER, 0)).toBe(false)
    runToEnd(work)
    expect(flagSet.flags.get('flag')?.fallback).toBe(first)
  })
})

describe('Definitions without the declared type', () => {
  const rule = ruleDefinition()
  const condition = { attribute: 'it', operator: 'exists', value: '' }
  const [gradual] = gradualFlag('x', '2026-01-01T00:00:00Z').rollouts
  const ranged = { ...gradual, strategy: 'variant', ranges: [{ from: 0, to: 1 }] }
  const holes = new Array(1)

  it.each<[string, object]>([
    ['variations', { variations: null }],
    ['a variation', { variations: [null] }],
    ['a hole among variations', { variations: holes }],
    ['targets', { targets: 'text' }],
    ['a target', { targets: [null] }],
    ['the keys of a target', { targets: [{ variationId: 'on', kind: 'user', keys: 1 }] }],
    ['prerequisites', { prerequisites: {} }],
    ['a hole among prerequisites', { prerequisites: holes }],
    ['the variations of a prerequisite', { prerequisites: [{ flagId: 'x', variationIds: 1 }] }],
    ['rules', { rules: null }],
    ['a rule', { rules: [null] }],
    ['the id of a rule', { rules: [rule, { ...rule, id: null }] }],
    ['the time of a rule', { rules: [rule, { ...rule, createdAt: null }] }],
    ['the order of a rule', { rules: [rule, { ...rule, orderIndex: Symbol('odd') }] }],
    ['conditions', { rules: [{ ...rule, conditions: null }] }],
    ['a condition', { rules: [{ ...rule, conditions: [null] }] }],
    [
      'the value of a condition',
      { rules: [{ ...rule, conditions: [{ ...condition, value: null }] }] },
    ],
    ['a hole among conditions', { rules: [{ ...rule, conditions: holes }] }],
    ['rollouts', { rollouts: null }],
    ['a rollout', { rollouts: [null] }],
    ['the bucketing key of a rollout', { rollouts: [{ ...gradual, bucketBy: 1 }] }],
    ['the salt of a rollout', { rollouts: [{ ...gradual, salt: Symbol('odd') }] }],
    ['the start of a gradual rollout', { rollouts: [{ ...gradual, startAt: Symbol('odd') }] }],
    ['the steps of a gradual rollout', { rollouts: [{ ...gradual, increment: 1n }] }],
    ['the ranges of a rollout', { rollouts: [{ ...ranged, ranges: null }] }],
    ['a range of a rollout', { rollouts: [{ ...ranged, ranges: [null] }] }],
    [
      'the start of a range',
      {
        rollouts: [
          {
            ...ranged,
            ranges: [
              { from: 1n, to: 2 },
              { from: 3, to: 4 },
            ],
          },
        ],
      },
    ],
  ])('A flag is omitted from the start if its definition has an invalid part: %s', (_, changes) => {
    const odd = flagDefinition('odd', changes)
    for (const flag of [odd, { ...odd, isActive: false }]) {
      const flagSet = compileFlagSet(flagSetDefinition([flag, flagDefinition('other')]))
      expect([...flagSet.flags.keys()]).toEqual(['other'])
      expect(flagSet.ordered).toHaveLength(1)
      expect(flagSet.flagsById.size).toBe(1)
      expect(findIssues(flagSet)).toHaveLength(1)
      expect({ ...valuesOf(evaluateTogether(flagSet, USER, 0)) }).toEqual({ other: false })
    }
  })

  it.each<[string, object]>([
    ['rules', { rules: null }],
    ['a rule', { rules: [null] }],
    ['the key attribute', { keyAttribute: null }],
    ['the included keys', { included: 1 }],
    ['the excluded keys', { excluded: {} }],
  ])(
    'A segment is omitted from the start if its definition has an invalid part: %s',
    (_, changes) => {
      const segments = [segmentDefinition('odd', changes as Partial<SegmentDefinition>)]
      const flagSet = compileFlagSet(flagSetDefinition([withRule('a', onSegment('odd'))], segments))
      expect(flagSet.segments.size).toBe(0)
      expect([...flagSet.malformed]).toEqual(['a'])
    },
  )

  it.each<[string, object]>([
    ['no keys of a target', { targets: [{ variationId: 'on', kind: 'user', keys: null }] }],
    ['one rule without an id', { rules: [{ ...rule, id: null }] }],
    [
      'a condition with a number',
      { rules: [{ ...rule, conditions: [{ ...condition, value: 1 }] }] },
    ],
    ['a salt that is a number', { rollouts: [{ ...gradual, salt: 1 }] }],
  ])('A flag is kept if it can be evaluated in spite of an invalid part: %s', (_, changes) => {
    const flagSet = compileFlagSet(flagSetDefinition([flagDefinition('odd', changes)]))
    expect(flagSet.flags.size).toBe(1)
    expect(typeof evaluateValue(flagSet, 'odd', USER, 0)).toBe('boolean')
  })
})
