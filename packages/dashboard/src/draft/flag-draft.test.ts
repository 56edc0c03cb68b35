import { describe, expect, it } from 'vitest'
import type { Configuration } from './configuration.ts'
import {
  type ConfigurationField,
  type FlagDraftAction,
  flagDraftReducer,
  startFlagDraft,
} from './flag-draft.ts'
import { newRollout } from './rollout-edits.ts'

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
const start = startFlagDraft({ base, etag: '"1"', version: 1 })

function after(actions: readonly FlagDraftAction[]) {
  let count = 0
  return actions.reduce(
    flagDraftReducer(() => `id-${++count}`),
    start,
  )
}

describe('flagDraftReducer', () => {
  it('Typing in one field is one step, and an edit that changes nothing is none.', () => {
    const rename = (name: string) => ({ type: 'renameRule', ruleId: 'id-1', name }) as const
    const draft = after([{ type: 'addRule', rule: { name: '' } }, rename('B'), rename('Be')])
    expect(draft.past).toHaveLength(2)
    expect(after([{ type: 'setActive', isActive: true }])).toBe(start)
  })

  it('Removing a rule removes its rollout, and undo restores both.', () => {
    const edits: FlagDraftAction[] = [
      { type: 'addRule', rule: { name: 'Beta', variationId: 'on' } },
      { type: 'serveRollout', ruleId: 'id-1' },
      { type: 'removeRule', ruleId: 'id-1' },
    ]
    expect(after(edits).current.rollouts).toEqual([])
    const undone = after([...edits, { type: 'undo' }]).current
    expect(undone.targetingRules).toMatchObject([{ rolloutId: 'id-2', variationId: null }])
    expect(undone.rollouts).toMatchObject([{ id: 'id-2', variationId: 'on' }])
  })

  it('Redo repeats an undone step, and an edit after undo ends redo.', () => {
    const off: FlagDraftAction = { type: 'setActive', isActive: false }
    const undone = after([off, { type: 'undo' }])
    expect(undone.current).toEqual(base)
    const reduce = flagDraftReducer(() => 'id')
    expect(reduce(undone, { type: 'redo' }).current.state.isActive).toBe(false)
    const other = reduce(undone, { type: 'setOffVariation', variationId: 'v' })
    expect(reduce(other, { type: 'redo' })).toBe(other)
  })

  it('With the ids of new items in the actions, equal actions give equal drafts.', () => {
    const refuse = flagDraftReducer(() => {
      throw new Error('No id is generated.')
    })
    const actions: FlagDraftAction[] = [
      { type: 'addRule', id: 'rule', rule: { name: 'Beta', variationId: 'on' } },
      { type: 'serveRollout', id: 'rollout', ruleId: 'rule' },
    ]
    const [one, other] = [actions.reduce(refuse, start), actions.reduce(refuse, start)]
    expect(one).toEqual(other)
    expect(one.current.targetingRules).toMatchObject([{ id: 'rule', rolloutId: 'rollout' }])
  })

  it('A rebase has the new base and no steps.', () => {
    const draft = after([{ type: 'setActive', isActive: false }])
    const newer = { ...base, revision: 2 }
    const rebase = { type: 'rebase', base: newer, current: draft.current, etag: '"2"', version: 2 }
    const rebased = flagDraftReducer(() => 'id')(draft, rebase as FlagDraftAction)
    expect(rebased).toMatchObject({ base: newer, etag: '"2"', version: 2, past: [], future: [] })
    expect(rebased.current).toBe(draft.current)
  })
})

describe('resetField', () => {
  const served = after([
    { type: 'addRule', rule: { name: 'Beta', variationId: 'on' } },
    { type: 'addRule', rule: { name: 'Other', variationId: 'on' } },
  ]).current
  const saved = startFlagDraft({ base: served, etag: '"1"', version: 1 })
  const reset = (actions: readonly FlagDraftAction[], field: ConfigurationField) => {
    let count = 0
    const reduce = flagDraftReducer(() => `new-${++count}`)
    return [...actions, { type: 'resetField', field } as const].reduce(reduce, saved).current
  }
  const toRollout: FlagDraftAction = { type: 'serveRollout', ruleId: 'id-1' }

  it.each(['variationId', 'rolloutId'] as const)(
    'A reset of %s restores what a rule serves, and removes its new rollout.',
    (field) => {
      expect(reset([toRollout], { part: 'rule', id: 'id-1', field })).toEqual(served)
    },
  )

  it('A reset of a new rollout restores what its rule serves.', () => {
    expect(reset([toRollout], { part: 'rollout', id: 'new-1' })).toEqual(served)
  })

  it('A reset of a removed rule restores its place.', () => {
    const removed: FlagDraftAction = { type: 'removeRule', ruleId: 'id-1' }
    expect(reset([removed], { part: 'rule', id: 'id-1' })).toEqual(served)
  })

  it('A reset of the segment restores the kind, and a reset of the order restores only the order.', () => {
    const edits: FlagDraftAction[] = [
      { type: 'setRuleSegment', ruleId: 'id-1', segmentId: 's' },
      { type: 'moveRule', ruleId: 'id-2', index: 0 },
    ]
    const rules = reset(edits, { part: 'rule', id: 'id-1', field: 'segmentId' }).targetingRules
    expect(rules.map(({ id, kind }) => [id, kind])).toEqual([
      ['id-2', 'custom'],
      ['id-1', 'custom'],
    ])
    const ordered = reset(edits, { part: 'order' }).targetingRules
    expect(ordered.map(({ id, kind }) => [id, kind])).toEqual([
      ['id-1', 'segment'],
      ['id-2', 'custom'],
    ])
  })

  it('A reset of a share after a change of the strategy restores the strategy.', () => {
    const rollout = newRollout('r', 'R', 'on')
    const configuration = { ...base, rollouts: [rollout] }
    const changed: FlagDraftAction = { type: 'setStrategy', rolloutId: 'r', strategy: 'gradual' }
    const field = { part: 'rollout', id: 'r', field: 'percentage' } as const
    const reduce = flagDraftReducer(() => 'id')
    const draft = [changed, { type: 'resetField', field } as const].reduce(
      reduce,
      startFlagDraft({ base: configuration, etag: '"1"', version: 1 }),
    )
    expect(draft.current).toEqual(configuration)
  })
})
