import { describe, expect, it } from 'vitest'
import { namesById } from '../../test/draft/any-configuration.ts'
import { textOf } from '../messages/phrases/fragment.ts'
import { conflictWords } from './change-words.ts'
import type { Configuration, Rollout, Rule } from './configuration.ts'
import { configurationDifferences } from './differences.ts'
import { mergeConfigurations } from './merge.ts'
import { movesSentence } from './rollout-differences.ts'
import { newRollout } from './rollout-edits.ts'
import { rolloutMoves } from './rollout-moves.ts'

const rollout: Rollout = { ...newRollout('r', 'Share', 'on'), salt: 's', percentage: 25 }
const rule: Rule = {
  id: 'rule',
  name: 'Beta',
  kind: 'custom',
  conditions: [],
  segmentId: null,
  variationId: null,
  rolloutId: 'r',
}
const state = { isActive: true, defaultVariationId: 'on', offVariationId: null }
const before: Configuration = {
  state: { ...state, targets: [], prerequisites: [] },
  targetingRules: [rule],
  rollouts: [rollout],
  revision: 1,
}
const withShare = (changes: Partial<Rollout>): Configuration => ({
  ...before,
  rollouts: [{ ...rollout, ...changes }],
})
const withState = (changes: Partial<Configuration['state']>): Configuration => ({
  ...before,
  state: { ...before.state, ...changes },
})
const serving: Configuration = {
  ...before,
  targetingRules: [{ ...rule, variationId: 'off', rolloutId: null }],
  rollouts: [],
}

describe('movesSentence', () => {
  const said = (changes: Partial<Rollout>, now = 0) =>
    textOf(movesSentence(rolloutMoves(rollout, { ...rollout, ...changes }, now), namesById))

  it.each([
    ['a larger share', { percentage: 30 }, 'another 5 % get on; no one loses it'],
    ['a smaller share', { percentage: 20 }, '5 % lose on'],
    ['another variation', { variationId: 'b' }, '25 % lose on; another 25 % get b'],
    ['no change', {}, 'No one gets another variation.'],
    ['a new salt', { salt: 't' }, /^Everyone is reassigned; about 37.5 %/],
  ])('It says what %s does.', (_, changes, text) => {
    expect(said(changes)).toMatch(text)
  })

  it('It promises nothing that the shares do not determine.', () => {
    const settings = { targetPercentage: 100, increment: 25, intervalHours: 1, percentage: null }
    const gradual = {
      ...settings,
      strategy: 'gradual',
      startAt: new Date(0).toISOString(),
    } as const
    expect(said(gradual)).toMatch(/contexts can get another variation/)
    expect(said(gradual, 3_600_000)).toBe('At least: another 25 % get on')
  })
})

describe('conflictWords', () => {
  const said = (theirs: Configuration, yours: Configuration) =>
    mergeConfigurations({ before, theirs, yours }).conflicts.map((conflict) => {
      const words = conflictWords(conflict, namesById)
      return [words.title, words.before, words.theirs, words.yours].map(textOf)
    })

  it('A conflict about what a rule serves shows the shares of each side.', () => {
    expect(said(withShare({ percentage: 50 }), serving)).toEqual([
      ['What rule Beta serves', 'on for 25 %, by user.key', 'on for 50 %, by user.key', 'off'],
    ])
  })

  it('A removed rule whose rollout the other side changed shows the rule with its shares.', () => {
    const removed = { ...before, targetingRules: [], rollouts: [] }
    expect(said(withShare({ percentage: 50 }), removed)).toEqual([
      [
        'Rule Beta',
        'Everyone → on for 25 %, by user.key',
        'Everyone → on for 50 %, by user.key',
        'removed',
      ],
    ])
  })

  it('Conflicts about shares, prerequisites and variations show the values of each side.', () => {
    expect(said(withShare({ percentage: 50 }), withShare({ percentage: 60 }))).toMatchObject([
      ['Shares of rollout Share', 'on for 25 %, by user.key', /50 %/, /60 %/].map((text) =>
        typeof text === 'string' ? text : expect.stringMatching(text),
      ),
    ])
    const needs = (...variationIds: string[]) =>
      withState({ prerequisites: [{ flagId: 'f', variationIds }] })
    expect(said(needs('a'), needs('b', 'c'))).toEqual([
      ['Prerequisite f', 'removed', 'a', 'b or c'],
    ])
    const served = (defaultVariationId: string | null) => withState({ defaultVariationId })
    expect(said(served(null), served('b'))).toEqual([
      ['Default variation', 'on', 'the default variation of the flag', 'b'],
    ])
  })
})

describe('the changes of rollouts', () => {
  const said = (after: Configuration) => {
    const options = { names: namesById, isProduction: true, now: 0 }
    return configurationDifferences(before, after, options).map(({ sentence }) => textOf(sentence))
  }

  it('A new rule with a new rollout is one change.', () => {
    const added = { ...rule, id: 'added', name: 'Gamma', rolloutId: 's' }
    const found = said({
      ...before,
      targetingRules: [...before.targetingRules, added],
      rollouts: [...before.rollouts, { ...rollout, id: 's', name: 'Other' }],
    })
    expect(found).toEqual([expect.stringContaining('Gamma')])
    expect(found[0]).toContain('on for 25 %')
  })

  it('A new rollout of a rule that exists is a change of both.', () => {
    const found = said({
      ...before,
      targetingRules: [{ ...rule, rolloutId: 's' }],
      rollouts: [...before.rollouts, { ...rollout, id: 's', name: 'Other', percentage: 40 }],
    })
    expect(found).toHaveLength(2)
  })

  it('A larger share says who gets another variation, unless everyone is reassigned.', () => {
    expect(said(withShare({ percentage: 30 }))).toEqual([
      expect.stringMatching(/25 % → 30 % .*\(another 5 % get on; no one loses it\)$/),
    ])
    const reassigned = said(withShare({ percentage: 30, salt: 't' }))
    expect(reassigned.join()).not.toContain('no one loses it')
  })
})

describe('the danger of a difference', () => {
  const dangers = (after: Configuration, isProduction = true) =>
    configurationDifferences(before, after, { names: namesById, isProduction, now: 0 }).map(
      ({ danger }) => danger,
    )

  it('Switching off is dangerous in production only.', () => {
    expect(dangers(withState({ isActive: false }))).toEqual(['switched-off'])
    expect(dangers(withState({ isActive: false }), false)).toEqual([null])
  })

  it('A new salt and a change of more than 50 % are dangerous, and a change of 50 % is not.', () => {
    expect(dangers(withShare({ salt: 't' }))).toEqual(['reassigned'])
    expect(dangers(withShare({ percentage: 75 }))).toEqual([null])
    expect(dangers(withShare({ percentage: 76 }))).toEqual(['moves-most'])
  })

  it('Removed targets are dangerous, and added ones are not.', () => {
    const targets = [{ kind: 'user', keys: ['a'], variationId: 'on' }]
    const [one, other] = [withState({ targets }), before]
    const options = { names: namesById, isProduction: true, now: 0 }
    expect(configurationDifferences(one, other, options)[0]?.danger).toBe('targets-removed')
    expect(configurationDifferences(other, one, options)[0]?.danger).toBeNull()
  })
})
