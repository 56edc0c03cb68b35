import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { evaluateFlag } from '../evaluation/evaluate.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import type { EvaluationContext } from '../model/context.ts'
import type {
  ConditionDefinition,
  FlagDefinition,
  RolloutDefinition,
  RuleDefinition,
  SegmentDefinition,
} from '../model/definition.ts'
import { ContextEvaluation } from './partial-evaluation.ts'

/** A context in which only `plan` and the key are known. */
const USER = { kind: 'user', key: 'user-1', plan: 'pro' }
const isKnown = (reference: string) => reference === 'plan' || reference === 'user.key'

const eq = (attribute: string, value: string): ConditionDefinition => {
  return { attribute, operator: 'eq', value }
}
const YES = eq('plan', 'pro')
const NO = eq('plan', 'free')
const onFlag = (attribute: string, value = 'on') => ({ attribute, operator: 'flag_is', value })
const onSegments = (...ids: string[]) => {
  return { attribute: '', operator: 'in_segment', value: JSON.stringify(ids) }
}
const withRules = (...rules: Partial<RuleDefinition>[]): Partial<FlagDefinition> => ({
  rules: rules.map((rule, orderIndex) =>
    ruleDefinition({ orderIndex, id: `${orderIndex}`, ...rule }),
  ),
})
const needing = (...keys: string[]): Partial<FlagDefinition> => ({
  prerequisites: keys.map((key) => ({ flagId: `id of ${key}`, variationIds: ['on'] })),
})

/** Other flags: `yes` serves `on`, `no` serves `off`, and `open` depends on the unknown `x`. */
const OTHERS = [
  flagDefinition('yes', withRules({})),
  flagDefinition('no'),
  flagDefinition('open', withRules({ conditions: [eq('x', '1')] })),
]

const unknownIn = (flagSet: FlagSet, key: string, context: EvaluationContext = USER) => {
  const flag = flagSet.flags.get(key)
  if (flag === undefined) throw new Error(`There is no flag ${key}`)
  return new ContextEvaluation(flagSet, context, { now: 0, isKnown }).unknownReads(flag)
}

/** Returns the unknown attributes on which the outcome of a flag depends. */
function unknownReads(
  changes: Partial<FlagDefinition>,
  { context = USER, segments = [] as readonly SegmentDefinition[] } = {},
) {
  const flags = [flagDefinition('flag', changes), ...OTHERS]
  return unknownIn(compileFlagSet(flagSetDefinition(flags, segments)), 'flag', context)
}

/**
 * Returns `true` or `false` if the result of a rule is known; otherwise the attributes on which it
 * depends.
 */
function verdictOf(rule: Partial<RuleDefinition>, segments: readonly SegmentDefinition[] = []) {
  // The second rule is only evaluated if the first one does not match.
  const unknown = unknownReads(withRules(rule, { conditions: [eq('second', '1')] }), { segments })
  if (unknown.length === 0) return true
  return unknown.join() === 'second' ? false : unknown
}

describe('The unknown reads of a flag', () => {
  it('An inactive flag, a malformed flag and a flag for an empty context depend on no attribute', () => {
    const open = withRules({ conditions: [eq('x', '1')] })
    expect(unknownReads(open)).toEqual(['x'])
    expect(unknownReads({ ...open, isActive: false })).toEqual([])
    expect(unknownReads({ ...open, ...needing('missing') })).toEqual([])
    expect(unknownReads(open, { context: {} as typeof USER })).toEqual([])
  })

  it('A flag with a target that lists the key depends on no attribute', () => {
    const rules = withRules({ conditions: [eq('x', '1')] })
    const target = (kind: string, ...keys: string[]) => ({ variationId: 'on', kind, keys })
    const targets = [target('device', 'user-1'), target('user', 'user-0', 'user-1')]
    expect(unknownReads({ ...rules, targets })).toEqual([])
    expect(unknownReads({ ...rules, targets: targets.slice(0, 1) })).toEqual(['x'])
    expect(unknownReads({ ...rules, targets: [target('user', 'user-0')] })).toEqual(['x'])
  })

  it('A flag depends on the unknown attributes of its prerequisites, unless one is not met', () => {
    const rules = withRules({ conditions: [eq('y', '1')] })
    expect(unknownReads({ ...rules, ...needing('yes') })).toEqual(['y'])
    expect(unknownReads({ ...rules, ...needing('no') })).toEqual([])
    expect(unknownReads({ ...rules, ...needing('yes', 'open') })).toEqual(['x'])
    expect(unknownReads({ ...rules, ...needing('open', 'no') })).toEqual([])
    const nothing = flagDefinition('nothing', { variations: [] })
    const flags = [flagDefinition('flag', { ...rules, ...needing('nothing') }), nothing]
    expect(unknownIn(compileFlagSet(flagSetDefinition(flags)), 'flag')).toEqual([])
  })

  it('Rules after one that serves the context are not read', () => {
    const [serving, open] = [{ conditions: [YES] }, { conditions: [eq('x', '1')] }]
    expect(unknownReads(withRules(serving, open))).toEqual([])
    expect(unknownReads(withRules({ conditions: [NO] }, open, serving))).toEqual(['x'])
    expect(unknownReads(withRules({ ...serving, variationId: null }, open))).toEqual(['x'])
    expect(unknownReads(withRules(open, { conditions: [eq('y', '1')] }))).toEqual(['x'])
  })

  it('An unknown attribute is listed only once', () => {
    const conditions = [eq('x', '1'), eq('y', '1'), eq('x', '2')]
    expect(unknownReads(withRules({ conditions }))).toEqual(['x', 'y'])
  })

  it('A rollout depends on its bucketing key, and a bucket without a variation on the next rule', () => {
    const rollout = (id: string, bucketBy: string, to: number): RolloutDefinition => ({
      ...{ id, bucketBy, salt: 's', scheme: 'ff', strategy: 'percentage' as const },
      ranges: [{ variationId: 'on', from: 0, to }],
    })
    const rollouts = [
      rollout('all', 'user.key', 100_000),
      rollout('none', 'user.key', 0),
      rollout('open', 'x', 100_000),
    ]
    const reads = (rolloutId: string) => {
      const rule = { conditions: [YES], variationId: null, rolloutId }
      return unknownReads({ ...withRules(rule, { conditions: [eq('y', '1')] }), rollouts })
    }
    expect(reads('all')).toEqual([])
    expect(reads('none')).toEqual(['y'])
    expect(reads('open')).toEqual(['x'])
  })

  it('The unknown reads are the same object when they are requested again', () => {
    const flagSet = compileFlagSet(flagSetDefinition(OTHERS))
    const evaluation = new ContextEvaluation(flagSet, USER, { now: 0, isKnown })
    const [, open] = flagSet.ordered
    if (open === undefined) throw new Error('There is no second flag')
    expect(evaluation.unknownReads(open)).toEqual(['x'])
    expect(evaluation.unknownReads(open)).toBe(evaluation.unknownReads(open))
  })

  it('By default all attributes are known, and the outcome is that of the evaluation', () => {
    const flagSet = compileFlagSet(flagSetDefinition(OTHERS))
    for (const context of [USER, { ...USER, x: '1' }]) {
      const evaluation = new ContextEvaluation(flagSet, context, { now: 0 })
      for (const flag of flagSet.ordered) {
        expect(evaluation.unknownReads(flag)).toEqual([])
        const { value, reason } = evaluateFlag(flagSet, flag.key, context, 0)
        const { variation, explanation } = evaluation.outcomeOf(flag)
        expect([variation?.value, explanation.reason]).toEqual([value, reason])
      }
    }
  })
})

describe('The conditions of a rule', () => {
  it.each<[readonly ConditionDefinition[], boolean | readonly string[]]>([
    [[], true],
    [[YES], true],
    [[YES, NO], false],
    [[YES, eq('x', '1')], ['x']],
    [
      [eq('x', '1'), eq('y', '1')],
      ['x', 'y'],
    ],
    [[eq('x', '1'), NO], false],
    [[{ ...NO, negate: true }], true],
    // A condition with an invalid value never matches.
    [[{ attribute: 'x', operator: 'gt', value: 'four' }], false],
    [[onFlag('yes')], true],
    [[onFlag('no')], false],
    [[onFlag('no', 'off')], true],
    [[onFlag('open')], ['x']],
    [[onFlag('unknown')], false],
    [[{ ...onFlag('unknown'), negate: true }], true],
  ])('The verdict of the conditions %j is %j', (conditions, expected) => {
    expect(verdictOf({ conditions })).toEqual(expected)
  })
})

describe('The segments of a rule', () => {
  const segment = (changes: Partial<SegmentDefinition>) => segmentDefinition('s', changes)

  it.each<[Partial<SegmentDefinition>, boolean | readonly string[]]>([
    [{}, false],
    [{ force: true }, true],
    [{ rules: [YES] }, true],
    [{ rules: [NO] }, false],
    [{ rules: [YES, NO] }, false],
    [{ rules: [YES, eq('x', '1')] }, ['x']],
    [{ rules: [NO, eq('x', '1')] }, false],
    [{ rules: [YES, eq('x', '1')], logicalOp: 'OR' }, true],
    [{ rules: [NO, eq('x', '1')], logicalOp: 'OR' }, ['x']],
    [{ rules: [NO, NO], logicalOp: 'OR' }, false],
    [{ rules: [NO, NO], logicalOp: 'NOT' }, true],
    [{ rules: [YES, eq('x', '1')], logicalOp: 'NOT' }, false],
    [{ rules: [NO, eq('x', '1')], logicalOp: 'NOT' }, ['x']],
    [{ logicalOp: 'NOT' }, false],
    [{ rules: [YES], logicalOp: 'XOR' as 'OR' }, false],
    [{ included: ['user-1'] }, true],
    [{ included: ['user-2'] }, false],
    [{ excluded: ['user-1'], force: true }, false],
    [{ excluded: ['user-2'], force: true }, true],
    [{ included: ['user-1'], keyAttribute: 'x' }, ['x']],
    [{ excluded: ['user-1'], keyAttribute: 'x', force: true }, ['x']],
    // An empty list does not need the key.
    [{ keyAttribute: 'x', force: true }, true],
  ])('The verdict of the segment %j is %j', (changes, expected) => {
    expect(verdictOf({ segmentId: 's' }, [segment(changes)])).toEqual(expected)
    expect(verdictOf({ conditions: [onSegments('s')] }, [segment(changes)])).toEqual(expected)
  })

  it('A rule matches only if its segment and all its conditions match', () => {
    const open = [segment({ rules: [eq('x', '1')] })]
    expect(verdictOf({ conditions: [NO], segmentId: 's' }, open)).toBe(false)
    expect(verdictOf({ conditions: [YES], segmentId: 's' }, open)).toEqual(['x'])
    expect(verdictOf({ conditions: [eq('y', '1')], segmentId: 's' }, open)).toEqual(['y', 'x'])
    expect(verdictOf({ conditions: [YES], segmentId: 's' }, [segment({})])).toBe(false)
  })

  it('A condition on several segments matches if one of them matches', () => {
    const segments = [
      segmentDefinition('in', { force: true }),
      segmentDefinition('out'),
      segmentDefinition('open', { rules: [eq('x', '1')] }),
      segmentDefinition('twice', { rules: [onSegments('open'), onSegments('open')] }),
    ]
    const verdict = (...ids: string[]) => verdictOf({ conditions: [onSegments(...ids)] }, segments)
    expect(verdict('out', 'open', 'in')).toBe(true)
    expect(verdict('out', 'open')).toEqual(['x'])
    expect(verdict('out')).toBe(false)
    expect(verdict()).toBe(false)
    expect(verdict('twice')).toEqual(['x'])
  })
})
