import type { EnvironmentSummary } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import { textOf } from '../../messages/phrases/fragment.ts'
import { cellSentence } from './cell-sentence.ts'

const [ON, OFF, OTHER] = ['1', '2', '3'].map((digit) => digit.repeat(8)) as [string, string, string]
const variations = [
  { id: ON, key: 'true', name: 'true' },
  { id: OFF, key: 'false', name: 'false' },
  { id: OTHER, key: 'other', name: 'other' },
]

const everybody: EnvironmentSummary = {
  environmentId: 'e',
  isActive: true,
  shape: 'everybody',
  defaultVariationId: OFF,
  offVariationId: null,
  ruleCount: 0,
  conditionalRuleCount: 0,
  ruleVariationIds: [],
  othersVariationId: OFF,
  targetCount: 0,
  prerequisiteCount: 0,
  pendingChanges: 0,
  split: null,
  splitIsConditional: false,
  nextStepAt: null,
  version: 1,
  changedAt: null,
  changedBy: null,
}

const sentenceOf = (changes: Partial<EnvironmentSummary>) =>
  textOf(cellSentence(variations, { ...everybody, ...changes }))
const share = (variationId: string, percent: number) => ({ variationId, percent })

describe('the sentence of a cell', () => {
  it('Without rules, everyone gets the default variation.', () => {
    expect(sentenceOf({})).toBe('everyone gets false')
  })

  it('While the flag is off, everyone gets the off variation, although there are rules.', () => {
    const off = { shape: 'off', isActive: false, ruleCount: 2, offVariationId: OTHER } as const
    expect(sentenceOf(off)).toBe('off: everyone gets other')
  })

  it('Without an off variation, everyone gets the default variation while the flag is off.', () => {
    expect(sentenceOf({ shape: 'off', isActive: false })).toBe('off: everyone gets false')
  })

  it('A flag without a default variation serves nothing.', () => {
    expect(sentenceOf({ defaultVariationId: null })).toBe('everyone gets no variation')
  })

  it('If the only rule has no conditions, everyone gets its variation.', () => {
    const rule = { shape: 'rules', ruleCount: 1, othersVariationId: ON } as const
    expect(sentenceOf(rule)).toBe('everyone gets true')
    expect(sentenceOf({ ...rule, targetCount: 2 })).toBe('2 targets; others get true')
  })

  it('A rule with conditions is named with its variation, before what the others get.', () => {
    const rule = { conditionalRuleCount: 1, ruleVariationIds: [ON] }
    expect(sentenceOf({ shape: 'rules', ruleCount: 1, ...rule })).toBe(
      '1 rule serves true; others get false',
    )
    const others = { othersVariationId: OTHER }
    expect(sentenceOf({ shape: 'rules', ruleCount: 2, ...rule, ...others })).toBe(
      '1 rule serves true; others get other',
    )
  })

  it('Several rules are counted, and named with up to two variations.', () => {
    const rules = { shape: 'rules', ruleCount: 3, conditionalRuleCount: 3 } as const
    expect(sentenceOf({ ...rules, ruleVariationIds: [ON, OTHER] })).toBe(
      '3 rules serve true, other; others get false',
    )
    expect(sentenceOf({ ...rules, ruleVariationIds: [ON, OTHER, OFF] })).toBe(
      '3 rules; others get false',
    )
  })

  it('Targets and prerequisites are counted, and the others are named.', () => {
    const rules = { conditionalRuleCount: 1, ruleVariationIds: [ON] }
    const counts = { shape: 'rules', ruleCount: 1, targetCount: 3, prerequisiteCount: 1 } as const
    expect(sentenceOf({ ...counts, ...rules })).toBe(
      '1 rule serves true, 3 targets, 1 prerequisite; others get false',
    )
  })

  it('A rollout to the contexts that match a rule says what the others get.', () => {
    const split = [share(ON, 25)]
    const rollout = { shape: 'rollout', split, splitIsConditional: true } as const
    expect(sentenceOf({ ...rollout, ruleCount: 1, conditionalRuleCount: 1 })).toBe(
      '1 rule: 25 % get true; others get false',
    )
    expect(sentenceOf({ ...rollout, ruleCount: 2, conditionalRuleCount: 2 })).toBe(
      '2 rules, one: 25 % get true; others get false',
    )
  })

  it('The rule of a rollout is not counted.', () => {
    const rollout = { shape: 'rollout', ruleCount: 1, split: [share(ON, 25)] } as const
    expect(sentenceOf({ ...rollout, split: [share(ON, 25)] })).toBe('25 % get true')
  })

  it('The rules beside a rollout are counted.', () => {
    const rules = { ruleCount: 2, conditionalRuleCount: 1 }
    expect(sentenceOf({ shape: 'rollout', ...rules, split: [share(ON, 12.5)] })).toBe(
      '12.5 % get true · 1 rule',
    )
  })

  it('An experiment names two variations and counts the others.', () => {
    const split = [share(ON, 50), share(OFF, 30), share(OTHER, 20)]
    expect(sentenceOf({ shape: 'experiment', ruleCount: 1, split })).toBe(
      '50 % get true, 30 % get false, 1 more',
    )
  })

  it('A gradual rollout names the time of its next step.', () => {
    const nextStepAt = '2030-01-02T03:04:00.000Z'
    const gradual = { shape: 'gradual', ruleCount: 1, split: [share(ON, 5)], nextStepAt } as const
    expect(sentenceOf({ ...gradual, split: [share(ON, 5)] })).toMatch(
      /^5 % get true, next step .*(?:30|2030)/,
    )
  })

  it('A long name is shortened, and an unknown variation is named by its id.', () => {
    const long = [{ id: ON, key: 'k', name: 'x'.repeat(200) }]
    const summary = { ...everybody, defaultVariationId: ON }
    expect(textOf(cellSentence(long, summary)).length).toBeLessThan(70)
    expect(sentenceOf({ defaultVariationId: 'gone' })).toBe('everyone gets gone')
  })
})
