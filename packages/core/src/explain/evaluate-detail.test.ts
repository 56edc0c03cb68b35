import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { evaluateFlag } from '../evaluation/evaluate.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { FlagDefinition, RolloutDefinition, SegmentDefinition } from '../model/definition.ts'
import { evaluateDetail } from './evaluate-detail.ts'

const NOW = 0
const user = { kind: 'user', key: 'user-1', plan: 'pro' }

function detail(
  flags: readonly FlagDefinition[],
  context: EvaluationContext,
  segments: readonly SegmentDefinition[] = [],
) {
  const flagSet = compileFlagSet({ ...flagSetDefinition(flags, segments), version: 7 })
  return evaluateDetail(flagSet, flags[0]?.key ?? 'nowhere', context, NOW)
}

function eq(attribute: string, value = 'pro') {
  return { attribute, operator: 'eq', value }
}

function dependingOn(key: string) {
  return [{ flagId: `id of ${key}`, variationIds: ['on'] }]
}

describe('evaluateDetail', () => {
  it('The full detail contains the detail and the version of the flag set', () => {
    const flags = [flagDefinition('a', { rules: [ruleDefinition()] })]
    expect(detail(flags, user)).toEqual({
      ...evaluateFlag(compileFlagSet(flagSetDefinition(flags)), 'a', user, NOW),
      version: 7,
      prerequisiteChain: [],
      attributesRead: [],
    })
    expect(detail([], user)).toMatchObject({ errorCode: 'FLAG_NOT_FOUND', attributesRead: [] })
  })

  it('The full detail lists the attributes of the rules up to the one that serves, including missing ones', () => {
    const rollout: RolloutDefinition = {
      id: 'r',
      strategy: 'percentage',
      bucketBy: 'organization.key',
      salt: 'salt',
      scheme: 'ff',
      ranges: [],
    }
    const rules = [
      ruleDefinition({ id: '1', rolloutId: 'r', conditions: [eq('plan')] }),
      ruleDefinition({ id: '2', conditions: [eq('age'), eq('address.country')] }),
      ruleDefinition({ id: '3', conditions: [eq('plan')] }),
      ruleDefinition({ id: '4', conditions: [eq('never')] }),
    ]
    const { attributesRead } = detail([flagDefinition('a', { rules, rollouts: [rollout] })], user)
    expect(attributesRead).toEqual(['address.country', 'age', 'organization.key', 'plan'])
  })

  it('The full detail lists no attributes of a later rule, even if the rule that serves has the same id', () => {
    const rules = [
      ruleDefinition({ id: 'same', orderIndex: 0 }),
      ruleDefinition({ id: 'same', orderIndex: 1, conditions: [eq('never')] }),
    ]
    expect(detail([flagDefinition('a', { rules })], user).attributesRead).toEqual([])
  })

  it('The full detail lists the attributes of segments and other flags', () => {
    const conditions = [
      { attribute: '', operator: 'in_segment', value: 'inner' },
      { attribute: 'other', operator: 'flag_is', value: 'on' },
    ]
    const segments = [
      segmentDefinition('outer', { rules: conditions, keyAttribute: 'unused' }),
      segmentDefinition('inner', { excluded: ['x'], keyAttribute: 'email' }),
    ]
    const flags = [
      flagDefinition('a', {
        prerequisites: dependingOn('needed'),
        rules: [ruleDefinition({ segmentId: 'outer' })],
      }),
      flagDefinition('needed', { rules: [ruleDefinition({ conditions: [eq('plan')] })] }),
      flagDefinition('other', { rules: [ruleDefinition({ conditions: [eq('age')] })] }),
    ]
    expect(detail(flags, user, segments).attributesRead).toEqual(['age', 'email', 'plan'])
  })

  it('The full detail lists the key attribute of a segment with included or excluded keys', () => {
    const flags = [
      flagDefinition('a', {
        rules: [
          ruleDefinition({ id: '1', segmentId: 'in', variationId: null }),
          ruleDefinition({ id: '2', segmentId: 'out', variationId: null }),
          ruleDefinition({ id: '3', segmentId: 'none', variationId: null }),
        ],
      }),
    ]
    const segments = [
      segmentDefinition('in', { included: ['x'], keyAttribute: 'email' }),
      segmentDefinition('out', { excluded: ['x'], keyAttribute: 'phone' }),
      segmentDefinition('none', { force: true, keyAttribute: 'unused' }),
    ]
    expect(detail(flags, user, segments).attributesRead).toEqual(['email', 'phone'])
  })

  it('The full detail lists the keys of targets, but no attributes after the target that serves', () => {
    const targets = [
      { variationId: 'on', kind: 'organization', keys: ['acme'] },
      { variationId: 'on', kind: 'user', keys: ['user-1'] },
      { variationId: 'on', kind: 'device', keys: ['phone'] },
    ]
    const rules = [ruleDefinition({ conditions: [eq('plan')] })]
    const flags = [flagDefinition('a', { targets, rules })]
    expect(detail(flags, user).attributesRead).toEqual(['organization.key', 'user.key'])
    expect(detail(flags, { kind: 'user', key: 'other' }).attributesRead).toEqual([
      'device.key',
      'organization.key',
      'plan',
      'user.key',
    ])
  })

  it('The full detail lists no attributes if none are read', () => {
    const rules = [ruleDefinition({ conditions: [eq('plan')] })]
    const flag = flagDefinition('a', { rules })
    expect(detail([flag], {}).attributesRead).toEqual([])
    expect(detail([{ ...flag, isActive: false }], user).attributesRead).toEqual([])
    const lost = { ...flag, prerequisites: dependingOn('nowhere') }
    expect(detail([lost], user).attributesRead).toEqual([])
  })

  it('The full detail lists the chain of unmet prerequisites, and no attributes after an unmet prerequisite', () => {
    const rules = [ruleDefinition({ conditions: [eq('never')] })]
    const flags = [
      flagDefinition('a', {
        prerequisites: [...dependingOn('b'), ...dependingOn('unasked')],
        rules,
      }),
      flagDefinition('b', { prerequisites: dependingOn('c'), rules }),
      flagDefinition('c', { rules: [ruleDefinition({ conditions: [eq('plan', 'free')] })] }),
      flagDefinition('unasked', { rules }),
    ]
    const { prerequisiteChain, attributesRead, prerequisiteKey } = detail(flags, user)
    expect(prerequisiteKey).toBe('b')
    expect(prerequisiteChain).toEqual(['b', 'c'])
    expect(attributesRead).toEqual(['plan'])
  })
})
