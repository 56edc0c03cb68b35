import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import { startFlagDraft } from '../draft/flag-draft.ts'
import { IDLE, type PublishAction, type PublishState, publishReducer } from './publish-state.ts'

const draft = startFlagDraft({
  base: {
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
  },
  etag: '"1"',
  version: null,
})
const refusal = new ApiError({ status: 400, code: 'INVALID_REQUEST', message: 'is not valid' })
const timeout = new ApiError({ status: 0, code: 'TIMEOUT', message: 'no answer' })
const publication = { version: 42, publishedAt: 0 }
const review = { type: 'review', key: 'key-1', draft } as const

function after(...actions: readonly PublishAction[]): PublishState {
  return actions.reduce(publishReducer, IDLE)
}

describe('publishReducer', () => {
  it('A second click on "Publish" is the same state, so it sends nothing.', () => {
    const publishing = after(review, { type: 'publish' })
    expect(publishing.phase).toBe('publishing')
    expect(publishReducer(publishing, { type: 'publish' })).toBe(publishing)
  })

  it('A second review does not replace the open one, which has sent its key.', () => {
    const unknown = after(review, { type: 'publish' }, { type: 'lose', error: timeout })
    expect(publishReducer(unknown, { ...review, key: 'key-2' })).toBe(unknown)
  })

  it('A repetition after a lost answer has the key and the draft of the first request.', () => {
    const again = after(
      review,
      { type: 'note', note: 'Friday' },
      { type: 'publish' },
      { type: 'lose', error: timeout },
      { type: 'publish' },
    )
    expect(again).toEqual({ phase: 'publishing', review: { key: 'key-1', draft, note: 'Friday' } })
  })

  it('A newer base continues an open review with another key, and no request that was sent.', () => {
    const newer = { ...draft, etag: '"2"' }
    const rebase = { type: 'rebase', key: 'key-2', draft: newer } as const
    const reviewing = after(review, { type: 'note', note: 'Friday' }, rebase)
    const continued = { key: 'key-2', draft: newer, note: 'Friday' }
    expect(reviewing).toMatchObject({ phase: 'reviewing', review: continued })
    const publishing = after(review, { type: 'publish' })
    expect(publishReducer(publishing, rebase)).toBe(publishing)
    expect(publishReducer(IDLE, rebase)).toBe(IDLE)
  })

  it('A refusal keeps the draft and the note, and can be repeated with another note.', () => {
    const refused = after(
      review,
      { type: 'note', note: 'a' },
      { type: 'publish' },
      { type: 'refuse', error: refusal },
      { type: 'note', note: 'ab' },
    )
    expect(refused).toEqual({
      phase: 'reviewing',
      review: { key: 'key-1', draft, note: 'ab' },
      refusal,
    })
  })

  it('A review that is on its way cannot be closed.', () => {
    const publishing = after(review, { type: 'publish' })
    expect(publishReducer(publishing, { type: 'close' })).toBe(publishing)
  })

  it('An answer that arrives after the end of a review changes nothing.', () => {
    expect(after({ type: 'succeed', publication })).toBe(IDLE)
    expect(after(review, { type: 'succeed', publication }).phase).toBe('reviewing')
  })

  it('A stale draft is a conflict, and not a refusal.', () => {
    expect(after(review, { type: 'publish' }, { type: 'conflict' }).phase).toBe('conflict')
  })

  it('After a publish, the next review has a new key.', () => {
    const state = after(
      review,
      { type: 'publish' },
      { type: 'succeed', publication },
      { ...review, key: 'key-2' },
    )
    expect(state).toMatchObject({ phase: 'reviewing', review: { key: 'key-2', note: '' } })
  })
})
