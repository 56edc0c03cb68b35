import { describe, expect, it } from 'vitest'
import type { Configuration, Rule } from './configuration.ts'
import { type FlagDraft, flagDraftReducer, startFlagDraft } from './flag-draft.ts'
import { isChanged } from './history.ts'
import { renamedDraft } from './renamed-draft.ts'

const rule = (id: string, name: string): Rule => ({
  ...({ id, name, kind: 'custom', segmentId: null, rolloutId: null } as const),
  ...{ conditions: [], variationId: 'v' },
})
const base: Configuration = {
  state: {
    ...{ isActive: true, defaultVariationId: null, offVariationId: null },
    ...{ targets: [], prerequisites: [] },
  },
  targetingRules: [rule('a', 'A'), rule('b', 'B')],
  rollouts: [],
  revision: 1,
}
const newer = { ...base, revision: 2, targetingRules: [rule('a', 'Renamed'), rule('b', 'B')] }
const theirs = { base: newer, etag: '"2"' }
const reduce = flagDraftReducer(() => 'new')
const start = startFlagDraft({ base, etag: '"1"', version: 7 })
const names = (draft: FlagDraft | undefined) =>
  draft?.current.targetingRules.map(({ name }) => name)

describe('renamedDraft', () => {
  it('The draft has the new name, its own changes, and the ETag of the newer configuration.', () => {
    const draft = reduce(start, { type: 'setActive', isActive: false })
    const renamed = renamedDraft(draft, theirs)
    expect(renamed).toMatchObject({ base: newer, etag: '"2"', version: 7 })
    expect(names(renamed)).toEqual(['Renamed', 'B'])
    expect(renamed?.current.state.isActive).toBe(false)
  })

  it('An undo afterwards does not bring the old name back.', () => {
    const draft = reduce(start, { type: 'setActive', isActive: false })
    const renamed = renamedDraft(draft, theirs)
    const undone = renamed && reduce(renamed, { type: 'undo' })
    expect(names(undone)).toEqual(['Renamed', 'B'])
    expect(undone && isChanged(undone)).toBe(false)
  })

  it('A newer revision with equal contents only replaces the base.', () => {
    const draft = reduce(start, { type: 'setActive', isActive: false })
    const renamed = renamedDraft(draft, { base: { ...base, revision: 2 }, etag: '"2"' })
    expect(renamed).toMatchObject({ etag: '"2"', past: [{ targetingRules: base.targetingRules }] })
  })

  it('A rule that the draft renames too is a conflict.', () => {
    const draft = reduce(start, { type: 'renameRule', ruleId: 'a', name: 'Mine' })
    expect(renamedDraft(draft, theirs)).toBeUndefined()
  })

  it.each([
    ['a state', { ...newer, state: { ...newer.state, isActive: false } }],
    ['an order', { ...newer, targetingRules: newer.targetingRules.toReversed() }],
    ['a rule', { ...newer, targetingRules: [rule('a', 'Renamed')] }],
  ])('A newer configuration with another name and %s is left to the merge.', (_, other) => {
    const draft = reduce(start, { type: 'renameRule', ruleId: 'b', name: 'Mine' })
    expect(renamedDraft(draft, { base: other, etag: '"2"' })).toBeUndefined()
  })
})
