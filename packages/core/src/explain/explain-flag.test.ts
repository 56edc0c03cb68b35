import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  gradualFlag,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { FlagDefinition, SegmentDefinition } from '../model/definition.ts'
import type { JsonValue } from '../model/json.ts'
import { bucketOf } from '../rollouts/bucket.ts'
import { explainFlag } from './explain-flag.ts'
import type { ExplanationStep } from './explanation.ts'

const START = '2026-01-01T00:00:00.000Z'
const START_MS = Date.parse(START)

function explain(
  flags: readonly FlagDefinition[],
  context: EvaluationContext,
  segments: readonly SegmentDefinition[] = [],
) {
  const flagSet = compileFlagSet(flagSetDefinition(flags, segments))
  return explainFlag(flagSet, flags[0]?.key ?? '', context, START_MS)
}

/** Returns the texts of the steps as lines. Nested steps are indented. */
function linesOf(steps: readonly ExplanationStep[], indent = ''): string[] {
  return steps.flatMap(({ text, steps: parts = [] }) => {
    return [`${indent}${text}`, ...linesOf(parts, `${indent}  `)]
  })
}

const user = { kind: 'user', key: 'user-1', plan: 'pro' }

describe('explainFlag', () => {
  it('The step of a condition describes the condition and the attribute of the context', () => {
    const conditions = [
      { attribute: 'plan', operator: 'eq', value: 'pro' },
      { attribute: 'age', operator: 'gt', value: '17' },
      { attribute: 'plan', operator: 'eq', value: 'free', negate: true },
    ]
    const flag = flagDefinition('a', { rules: [ruleDefinition({ conditions })] })
    const { steps, detail } = explain([flag], user)
    expect(linesOf(steps)).toEqual([
      'The flag is active.',
      'The rule does not match.',
      '  plan eq "pro": holds; it is "pro".',
      '  age gt "17": does not hold; it is missing.',
      '  not plan eq "free": holds; it is "pro".',
      'Serves "off" (DEFAULT).',
    ])
    expect(steps[1]?.steps?.[1]).toMatchObject({
      type: 'condition',
      outcome: 'not_held',
      attribute: 'age',
      operator: 'gt',
      value: '17',
      found: null,
    })
    expect(detail.reason).toBe('DEFAULT')
  })

  it('The step of a segment describes why the context is in the segment or is not in it', () => {
    const rule = ruleDefinition({ segmentId: 's' })
    const flag = flagDefinition('a', { rules: [rule] })
    const condition = { attribute: 'plan', operator: 'eq', value: 'pro' }
    const lineOf = (segment: Partial<SegmentDefinition>) =>
      linesOf(explain([flag], user, [segmentDefinition('s', segment)]).steps)[2]
    expect(lineOf({ rules: [condition] })).toBe(
      '  The context is in the segment "s": conditions joined by AND.',
    )
    expect(lineOf({ excluded: ['user-1'], force: true })).toBe(
      '  The context is not in the segment "s": "user-1" is excluded.',
    )
    expect(lineOf({ included: ['user-1'] })).toBe(
      '  The context is in the segment "s": "user-1" is included.',
    )
    expect(lineOf({ force: true })).toBe(
      '  The context is in the segment "s": it includes every context.',
    )
    expect(lineOf({})).toBe('  The context is not in the segment "s": it has no conditions.')
  })

  it('The step of a rollout describes the bucket and the range, or the missing bucketing key', () => {
    const gradual = gradualFlag('a', START)
    expect(linesOf(explain([gradual], { kind: 'user', key: 'user-7' }).steps).slice(1)).toEqual([
      'The rule matches, and its rollout does not serve this context.',
      '  user.key "user-7" is in bucket 89424, which has no variation.',
      'Serves "off" (DEFAULT).',
    ])
    const inside = Array.from({ length: 99 }, (_, index) => `user-${index}`).find(
      (key) => bucketOf('aB3dE5gH7jK', key) < 10_000,
    )
    const { steps, detail } = explain([gradual], { kind: 'user', key: inside ?? '' })
    expect(detail.reason).toBe('SPLIT')
    expect(steps[1]?.steps?.[0]).toMatchObject({
      type: 'rollout',
      outcome: 'held',
      rolloutId: 'gradual',
      attribute: 'user.key',
      found: `"${inside}"`,
      bucket: detail.bucket,
      range: { from: 0, to: 10_000 },
      variationKey: 'on',
    })
    expect(linesOf(explain([gradual], { kind: 'user' }).steps).slice(1)).toEqual([
      'The rule matches, and its rollout does not serve this context.',
      '  The context has no bucketing key user.key (TARGETING_KEY_MISSING).',
      'Serves "off" (DEFAULT, TARGETING_KEY_MISSING).',
    ])
  })

  it('The steps describe the evaluation from the flag to the served variation', () => {
    const conditions = [
      { attribute: 'plan', operator: 'eq', value: 'pro' },
      { attribute: 'age', operator: 'gt', value: '17' },
    ]
    const countries = { attribute: 'address.country', operator: 'in', value: '["AT","DE"]' }
    const flag = flagDefinition('a', {
      targets: [{ variationId: 'on', kind: 'user', keys: ['user-9'] }],
      rules: [
        ruleDefinition({ id: '1', conditions }),
        ruleDefinition({ id: '2', segmentId: 'beta', variationId: null, rolloutId: 'r' }),
      ],
      rollouts: [
        {
          id: 'r',
          strategy: 'percentage',
          bucketBy: 'user.key',
          salt: 'checkout',
          scheme: 'ff',
          ranges: [{ variationId: 'on', from: 0, to: 40_000 }],
        },
      ],
    })
    const context = { ...user, address: { country: 'AT' } }
    const beta = segmentDefinition('beta', { rules: [countries] })
    expect(linesOf(explain([flag], context, [beta]).steps)).toEqual([
      'The flag is active.',
      'The target for "on" does not list the user "user-1".',
      'The rule does not match.',
      '  plan eq "pro": holds; it is "pro".',
      '  age gt "17": does not hold; it is missing.',
      'The rule matches, and its rollout serves this context.',
      '  The context is in the segment "beta": conditions joined by AND.',
      '    address.country in "["AT","DE"]": holds; it is "AT".',
      '  user.key "user-1" is in bucket 17502, which lies in 0…40000 of "on".',
      'Serves "on" (SPLIT).',
    ])
  })

  it('The step of a condition says that an integer of 2^53 or more is not exact', () => {
    const conditions = [{ attribute: 'id', operator: 'eq', value: '9007199254740992' }]
    const flag = flagDefinition('a', { rules: [ruleDefinition({ conditions })] })
    const stepFor = (id: JsonValue) =>
      explain([flag], { kind: 'user', id } as EvaluationContext).steps[1]?.steps?.[0]
    expect(stepFor([2 ** 53])).toMatchObject({
      outcome: 'not_held',
      text:
        'id eq "9007199254740992": does not hold; ' +
        'it is [9007199254740992], but an integer of 2^53 or more is not exact and equals nothing.',
      isInexact: true,
    })
    expect(stepFor('9007199254740992')).not.toHaveProperty('isInexact')
  })

  it('The step of an in_bucket condition describes the key of the context', () => {
    const value = '{"salt":"checkout","ranges":[[0,20000]]}'
    const conditions = [{ attribute: 'user.key', operator: 'in_bucket', value }]
    const flag = flagDefinition('a', { rules: [ruleDefinition({ conditions })] })
    const lineFor = (context: EvaluationContext) => linesOf(explain([flag], context).steps)[2]
    const quoted = `  user.key in_bucket "${value}"`
    expect(lineFor(user)).toBe(`${quoted}: holds; it is "user-1".`)
    expect(lineFor({ kind: 'device', key: 'user-2' })).toBe(
      `${quoted}: does not hold; it is "user-2".`,
    )
    expect(lineFor({ kind: 'user' })).toBe(`${quoted}: does not hold; it is missing.`)
  })

  it('The prerequisite chain lists direct and indirect unmet prerequisites', () => {
    const on = (key: string) => [{ flagId: `id of ${key}`, variationIds: ['on'] }]
    const { steps, prerequisiteChain } = explain(
      [
        flagDefinition('a', { prerequisites: on('b') }),
        flagDefinition('b', { prerequisites: on('c') }),
        flagDefinition('c', { isActive: false }),
      ],
      user,
    )
    expect(prerequisiteChain).toEqual(['b', 'c'])
    expect(linesOf(steps)).toEqual([
      'The flag is active.',
      'The prerequisite "b" serves "off" (DEFAULT): not met.',
      'Serves "off" (DEFAULT).',
    ])
  })

  it('The steps end at the target or rule that serves, or at the flag if it is not evaluated', () => {
    const rules = [
      ruleDefinition({ id: 'empty', variationId: null }),
      ruleDefinition({ id: 'first' }),
      ruleDefinition({ id: 'second', orderIndex: 1 }),
    ]
    const targets = [{ variationId: 'on', kind: 'user', keys: ['user-2'] }]
    const flag = flagDefinition('a', { rules, targets })
    expect(linesOf(explain([flag], user).steps)).toEqual([
      'The flag is active.',
      'The target for "on" does not list the user "user-1".',
      'The rule matches, but it has no variation to serve.',
      'The rule matches: "on".',
      'Serves "on" (TARGETING_MATCH).',
    ])
    const targeted = explain([flag], { kind: 'user', key: 'user-2' }).steps
    expect(targeted.map(({ type }) => type)).toEqual(['flag', 'target', 'answer'])
    expect(explain([flag], {}).steps.map(({ type }) => type)).toEqual(['flag', 'context', 'answer'])
    const off = explain([{ ...flag, isActive: false }], user).steps
    expect(linesOf(off)).toEqual(['The flag is inactive.', 'Serves "off" (DISABLED).'])
    const lost = explain(
      [flagDefinition('a', { rules: [ruleDefinition({ segmentId: 's' })] })],
      user,
    )
    expect(linesOf(lost.steps)).toEqual([
      'A dependency of the flag cannot be resolved. The flag a needs the segment s, which does not exist.',
      'Serves "off" (ERROR, MALFORMED_FLAG).',
    ])
    expect(linesOf(explain([], user).steps)).toEqual([
      'There is no such flag.',
      'Serves nothing, so the value is null (ERROR, FLAG_NOT_FOUND).',
    ])
  })

  it('The steps describe conditions on segments and flags, and invalid conditions', () => {
    const conditions = [
      { attribute: '', operator: 'in_segment', value: '["empty","all"]' },
      { attribute: '', operator: 'in_segment', value: 'empty' },
      { attribute: 'other', operator: 'flag_is', value: 'off' },
      { attribute: 'unknown', operator: 'flag_is', value: 'off' },
      { attribute: 'plan', operator: 'nonsense', value: 'x' },
    ]
    const flags = [
      flagDefinition('a', { rules: [ruleDefinition({ conditions })] }),
      flagDefinition('other'),
    ]
    const segments = [segmentDefinition('empty'), segmentDefinition('all', { force: true })]
    const { steps } = explain(flags, user, segments)
    expect(linesOf(steps).slice(2, -1)).toEqual([
      '  in_segment "["empty","all"]": holds; the context is in one of these segments.',
      '  in_segment "empty": does not hold; the context is in none of these segments.',
      '  other flag_is "off": holds; the flag "other" serves "off".',
      '  unknown flag_is "off": does not hold; the flag "unknown" serves nothing.',
      '  plan nonsense "x": does not hold; the condition is invalid.',
    ])
    expect(steps[1]?.steps?.[2]).toMatchObject({ flagKey: 'other', variationKey: 'off' })
    expect(steps[1]?.steps?.[3]).toMatchObject({ flagKey: 'unknown', variationKey: null })
  })

  it('The steps describe met prerequisites, listed keys, kinds without a key, and broken rollouts', () => {
    const on = { flagId: 'id of b', variationIds: ['on'] }
    const flag = flagDefinition('a', {
      prerequisites: [on],
      targets: [
        { variationId: 'on', kind: 'device', keys: ['phone'] },
        { variationId: 'on', kind: 'user', keys: ['user-1'] },
      ],
    })
    const served = flagDefinition('b', { rules: [ruleDefinition()] })
    expect(explain([flag, served], user).steps.slice(1, 4)).toEqual([
      {
        type: 'prerequisite',
        outcome: 'held',
        flagKey: 'b',
        variationKey: 'on',
        text: 'The prerequisite "b" serves "on" (TARGETING_MATCH): met.',
      },
      {
        type: 'target',
        outcome: 'not_held',
        text: 'The target for "on" applies to the kind "device", for which the context has no key.',
      },
      { type: 'target', outcome: 'held', text: 'The target for "on" lists the user "user-1".' },
    ])
    const broken = flagDefinition('a', { rules: [ruleDefinition({ rolloutId: 'nowhere' })] })
    expect(explain([broken], user).steps.slice(1)).toEqual([
      {
        type: 'rule',
        outcome: 'held',
        ruleId: 'rule',
        text: 'The rule matches, but its rollout is missing or invalid.',
        steps: [],
      },
      expect.objectContaining({ text: 'Serves "off" (ERROR, MALFORMED_FLAG).' }),
    ])
  })

  it('The steps describe a prerequisite that serves no variation', () => {
    const prerequisite = flagDefinition('b', { defaultVariationId: 'nowhere' })
    const prerequisites = [{ flagId: 'id of b', variationIds: ['on'] }]
    const { steps } = explain([flagDefinition('a', { prerequisites }), prerequisite], user)
    expect(linesOf(steps)[1]).toBe('The prerequisite "b" serves nothing (ERROR): not met.')
  })

  it('Every step has a type and an outcome', () => {
    const rules = [
      ruleDefinition({
        id: '1',
        conditions: [{ attribute: 'plan', operator: 'exists', value: '' }],
      }),
      ruleDefinition({ id: '2', segmentId: 's', variationId: null }),
      ruleDefinition({ id: '3', variationId: null, rolloutId: 'gradual' }),
      ruleDefinition({ id: '4' }),
    ]
    const flag = { ...gradualFlag('a', START), rules }
    const outcomesOf = (steps: readonly ExplanationStep[]): unknown[] =>
      steps.flatMap(({ type, outcome, steps: parts = [] }) => [
        `${type} ${outcome}`,
        ...outcomesOf(parts),
      ])
    const segments = [segmentDefinition('s', { force: true })]
    expect(outcomesOf(explain([flag], { kind: 'user' }, segments).steps)).toEqual([
      'flag held',
      'rule not_held',
      'condition not_held',
      'rule skipped',
      'segment held',
      'rule skipped',
      'rollout skipped',
      'rule held',
      'answer held',
    ])
    const unplaced = explain([flag], { kind: 'user', key: 'user-7' }, segments).steps
    expect(unplaced[3]?.steps?.[0]?.outcome).toBe('skipped')
    const stopped = { ...flag, isActive: false }
    expect(outcomesOf(explain([stopped], user).steps)).toEqual(['flag not_held', 'answer held'])
    expect(outcomesOf(explain([flag], user).steps)).toEqual(['flag not_held', 'answer held'])
    expect(explain([stopped], user).steps[0]?.text).toBe('The flag is inactive.')
  })

  it('The steps contain only the start of a long value', () => {
    const value = 'x'.repeat(60_000)
    const conditions = [{ attribute: 'note', operator: 'eq', value }]
    const flag = flagDefinition('a', { rules: [ruleDefinition({ conditions })] })
    const { steps } = explain([flag], { kind: 'user', key: 'u', note: value })
    expect(JSON.stringify(steps).length).toBeLessThan(2_000)
  })
})

describe('The explanation of a malformed flag', () => {
  it('The step of a malformed flag has the messages of its first five faults, and of no other flag', () => {
    const needing = (key: string, ...others: string[]) => {
      const prerequisites = others.map((flagId) => ({ flagId, variationIds: ['on'] }))
      return flagDefinition(key, { prerequisites })
    }
    const { steps } = explain([needing('b', '1', '2', '3', '4', '5', '6'), needing('a', '0')], user)
    const fault = (id: number) =>
      `The flag b needs the flag with the id ${id}, which does not exist.`
    expect(steps[0]?.text).toBe(
      ['A dependency of the flag cannot be resolved.', ...[1, 2, 3, 4, 5].map(fault)].join(' '),
    )
  })
})
