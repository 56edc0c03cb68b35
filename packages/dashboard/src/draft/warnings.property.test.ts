import { compileFlagSet, evaluateFlag, parseContext } from '@ff/core'
import { rangesOf } from '@ff/core/authoring'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyConfiguration, ids } from '../../test/draft/any-configuration.ts'
import { textOf } from '../messages/phrases/fragment.ts'
import type { Configuration, Rollout, Rule } from './configuration.ts'
import { newRollout } from './rollout-edits.ts'
import { configurationWarnings, newAttributes, unreachableRules } from './warnings.ts'

function definitionOf({ strategy, ...rollout }: Rollout) {
  const { variants, variationId, percentage } = rollout
  const one = { variationId: variationId ?? '', weight: percentage ?? 0 }
  if (strategy !== 'gradual') {
    return { ...rollout, strategy, ranges: rangesOf(variants ?? [one]) }
  }
  const { targetPercentage, increment, intervalHours, startAt } = rollout
  return {
    ...rollout,
    strategy,
    variationId: variationId ?? '',
    targetPercentage: targetPercentage ?? 0,
    increment: increment ?? 0,
    intervalHours: intervalHours ?? 0,
    startAt: startAt ?? '',
  }
}

function compiled({ targetingRules, rollouts }: Configuration) {
  const variations = [0, 1, 2].map((index) => {
    return { id: ids.variation(index), key: `v${index}`, value: `v${index}` }
  })
  const rules = targetingRules.map((rule, orderIndex) => ({ ...rule, orderIndex, createdAt: '' }))
  const segments = [0, 1].map((index) => ({
    id: ids.segment(index),
    key: `s${index}`,
    rules: [{ attribute: 'plan', operator: 'eq', value: index === 0 ? 'pro' : '5' }],
    logicalOp: 'AND' as const,
    force: false,
    keyAttribute: 'user.key',
    included: [],
    excluded: [],
  }))
  const off = { offVariationId: null, targets: [], prerequisites: [] }
  const state = { isActive: true, defaultVariationId: ids.variation(0), ...off }
  const flag = { id: 'f', key: 'f', type: 'string' as const, variations, ...state }
  return compileFlagSet({
    version: 1,
    flags: [{ ...flag, rules, rollouts: rollouts.map(definitionOf) }],
    segments,
  })
}

const anyContext = fc
  .record(
    {
      key: fc.constantFrom('a', 'b', 'c'),
      plan: fc.constantFrom('pro', '5', 'x'),
      country: fc.constantFrom('pro', 'a'),
    },
    { requiredKeys: ['key'] },
  )
  .map((fields) => parseContext({ kind: 'user', ...fields }))

const base: Configuration = {
  state: {
    isActive: true,
    defaultVariationId: null,
    offVariationId: null,
    targets: [],
    prerequisites: [],
  },
  targetingRules: [],
  rollouts: [],
  revision: 1,
}
const rule = (id: string, changes: Partial<Rule> = {}): Rule => ({
  id,
  name: id,
  kind: 'custom',
  conditions: [],
  segmentId: null,
  variationId: 'on',
  rolloutId: null,
  ...changes,
})
const isPro = [{ attribute: 'plan', operator: 'eq', value: 'pro' }]

describe('unreachableRules', () => {
  it('A rule that is reported as unreachable never decides a context.', () => {
    const found = { everyone: 0, 'same-conditions': 0, decided: 0 }
    const contexts = fc.array(anyContext, { minLength: 5, maxLength: 10 })
    fc.assert(
      fc.property(anyConfiguration, contexts, fc.nat(), (configuration, all, now) => {
        const unreachable = unreachableRules(configuration)
        for (const { reason } of unreachable) found[reason] += 1
        const set = compiled(configuration)
        for (const context of all) {
          const { ruleId } = evaluateFlag(set, 'f', context, now)
          if (ruleId !== undefined) found.decided += 1
          expect(unreachable.map((each) => each.ruleId)).not.toContain(ruleId)
        }
      }),
      { numRuns: runs(10_000, 3000) },
    )
    for (const count of Object.values(found)) expect(count).toBeGreaterThan(0)
  })

  it('A rule after one for everyone or with the same conditions is reported with the earlier one.', () => {
    const targetingRules = [
      rule('a', { conditions: isPro }),
      rule('b', { conditions: isPro }),
      rule('c'),
      rule('d'),
    ]
    expect(unreachableRules({ ...base, targetingRules })).toEqual([
      { ruleId: 'b', earlierId: 'a', reason: 'same-conditions' },
      { ruleId: 'd', earlierId: 'c', reason: 'everyone' },
    ])
  })

  it('A rule with a rollout or without a variation makes no later rule unreachable.', () => {
    const rollout = { ...newRollout('r', 'R', 'on'), percentage: 100 }
    const first = [{ variationId: null, rolloutId: 'r' }, { variationId: null }]
    for (const changes of first) {
      const targetingRules = [rule('a', changes), rule('b')]
      expect(unreachableRules({ ...base, targetingRules, rollouts: [rollout] })).toEqual([])
    }
  })
})

describe('configurationWarnings', () => {
  const share = { ...newRollout('r', 'Share', 'on'), percentage: 25 }
  const after = (rollout: Partial<Rollout>): Configuration => ({
    ...base,
    rollouts: [{ ...share, ...rollout }],
  })
  const said = (current: Configuration, options = {}) =>
    configurationWarnings(after({}), current, { now: 0, ...options }).map(({ sentence }) =>
      textOf(sentence),
    )

  it('An unchanged configuration without weights below 100 % has no warning.', () => {
    expect(said(after({}), { dependents: ['checkout'] })).toEqual([])
  })

  it('A change of more than 50 % is a warning, and a change of 50 % is none.', () => {
    expect(said(after({ percentage: 75 }))).toEqual([])
    expect(said(after({ percentage: 76 }))).toEqual([
      'Rollout Share changes the variation of 51 %.',
    ])
  })

  it('A new salt, weights below 100 %, a new attribute and dependents are warnings.', () => {
    expect(said(after({ salt: 'new' }))).toEqual(['Everyone in rollout Share is reassigned.'])
    const variants = [{ variationId: 'on', weight: 99.999 }]
    const weights = after({ strategy: 'variant', variationId: null, percentage: null, variants })
    expect(said(weights)[0]).toBe(
      'The weights of rollout Share are 99.999 % in total. For the others, the next rule is tried.',
    )
    const current = { ...after({}), targetingRules: [rule('a', { conditions: isPro })] }
    expect(said(current, { dependents: ['checkout'] })).toEqual([
      'No published rule reads plan. Observed contexts may lack it.',
      'Other flags depend on this flag: checkout.',
    ])
    expect(said(current, { knownAttributes: ['plan'] })).toEqual([])
  })

  it('Observed contexts always contain the kind and the key.', () => {
    const conditions = [
      { attribute: 'key', operator: 'eq', value: 'a' },
      { attribute: 'user.key', operator: 'eq', value: 'a' },
    ]
    expect(newAttributes(base, { ...base, targetingRules: [rule('a', { conditions })] })).toEqual(
      [],
    )
  })

  it('A condition on a segment or a flag reads no attribute.', () => {
    const conditions = [
      { attribute: 'x', operator: 'in_segment', value: '[]' },
      { attribute: 'checkout', operator: 'flag_is', value: 'on' },
    ]
    expect(newAttributes(base, { ...base, targetingRules: [rule('a', { conditions })] })).toEqual(
      [],
    )
  })
})
