import { describe, expect, it } from 'vitest'
import { ids } from '../../test/draft/any-configuration.ts'
import type { Configuration, Rollout, Rule } from './configuration.ts'
import { newRollout } from './rollout-edits.ts'
import { validateConfiguration, validateFlag, validateSegment } from './validate.ts'

const on = ids.variation(0)
const rollout: Rollout = { ...newRollout(ids.rollout(0), 'Share', on), percentage: 25 }
const rule: Rule = {
  id: ids.rule(0),
  name: 'Beta',
  kind: 'custom',
  conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }],
  segmentId: null,
  variationId: null,
  rolloutId: ids.rollout(0),
}
const lists = { targets: [], prerequisites: [] }
const valid: Configuration = {
  state: { isActive: true, defaultVariationId: on, offVariationId: null, ...lists },
  targetingRules: [rule],
  rollouts: [rollout],
  revision: 1,
}
const target = { kind: 'user', variationId: on, keys: ['a'] }
const pathsOf = (changes: Partial<Configuration>) =>
  validateConfiguration({ ...valid, ...changes }, valid).map(({ path }) => path)
const withRule = (changes: Partial<Rule>) => pathsOf({ targetingRules: [{ ...rule, ...changes }] })
const withRollout = (changes: Partial<Rollout>) =>
  pathsOf({ rollouts: [{ ...rollout, ...changes }] })

describe('validateConfiguration', () => {
  it('A valid configuration has no faults.', () => {
    expect(pathsOf({})).toEqual([])
  })

  // The paths of the server, with the names of properties in place of wire names.
  it.each([
    ['an empty name', withRule({ name: '' }), 'targetingRules.0.name'],
    [
      'an empty operator',
      withRule({ conditions: [{ attribute: 'a', operator: '', value: '' }] }),
      'targetingRules.0.conditions.0.operator',
    ],
    ['no segment', withRule({ kind: 'segment' }), 'targetingRules.0.segmentId'],
    ['an unknown rollout', withRule({ rolloutId: ids.rollout(1) }), 'targetingRules.0.rolloutId'],
    ['no percentage', withRollout({ percentage: null }), 'rollouts.0.percentage'],
    ['a percentage above 100', withRollout({ percentage: 101 }), 'rollouts.0.percentage'],
    ['four decimals', withRollout({ percentage: 0.0001 }), 'rollouts.0.percentage'],
    ['no variation', withRollout({ variationId: null }), 'rollouts.0.variationId'],
    ['a dot in the salt', withRollout({ salt: 'a.b' }), 'rollouts.0.salt'],
    ['a repeated key', pathsOf(repeated()), 'state.targets.1.keys'],
  ])('The path of %s is that of the server.', (_, paths, path) => {
    expect(paths).toEqual([path])
  })

  it('Weights above 100 % and repeated variations have the paths of the server.', () => {
    const strategy = { strategy: 'variant', variationId: null, percentage: null } as const
    const share = { variationId: on, weight: 60 }
    const other = { ...share, variationId: ids.variation(1) }
    expect(withRollout({ ...strategy, variants: [share, other] })).toEqual(['rollouts.0.variants'])
    const halves = [share, share].map((each) => ({ ...each, weight: 50 }))
    expect(withRollout({ ...strategy, variants: halves })).toEqual([
      'rollouts.0.variants.1.variationId',
    ])
  })

  it('The faults of segments and flags have the names of properties.', () => {
    expect(validateSegment({ keyAttribute: '' }).map(({ path }) => path)).toEqual(['keyAttribute'])
    expect(validateFlag({ name: '' }).map(({ path }) => path)).toEqual(['name'])
  })
})

function repeated(): Partial<Configuration> {
  const targets = [target, { ...target, variationId: ids.variation(1) }]
  return { state: { ...valid.state, targets } }
}
