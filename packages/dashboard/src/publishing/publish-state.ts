import type { ApiError } from '../api/api-error.ts'
import type { FlagDraft } from '../draft/flag-draft.ts'

/** One review of a draft. Everything that its requests contain is fixed when it begins. */
export interface Review {
  /** The `Idempotency-Key` of every request of this review. */
  readonly key: string
  readonly draft: FlagDraft
  /** The reason for the change, as the user has typed it. */
  readonly note: string
}

/** What a publish has made. */
export interface Publication {
  readonly version: number
  readonly publishedAt: number
}

/** The progress of publishing a draft. */
export type PublishState =
  | { readonly phase: 'idle' }
  /** The dialog is open. `refusal` is why the last request was refused. */
  | { readonly phase: 'reviewing'; readonly review: Review; readonly refusal: ApiError | undefined }
  | { readonly phase: 'publishing'; readonly review: Review }
  /** No answer has arrived. A repetition with the same key publishes at most once. */
  | { readonly phase: 'unknown'; readonly review: Review; readonly reason: ApiError }
  /** The draft starts from an earlier configuration than the published one. */
  | { readonly phase: 'conflict'; readonly review: Review }
  | { readonly phase: 'published'; readonly publication: Publication }

/** A step of publishing. */
export type PublishAction =
  | { readonly type: 'review'; readonly key: string; readonly draft: FlagDraft }
  | { readonly type: 'note'; readonly note: string }
  /** Continues the review with a draft that starts from a newer configuration. */
  | { readonly type: 'rebase'; readonly key: string; readonly draft: FlagDraft }
  | { readonly type: 'publish' }
  | { readonly type: 'succeed'; readonly publication: Publication }
  | { readonly type: 'refuse'; readonly error: ApiError }
  | { readonly type: 'lose'; readonly error: ApiError }
  | { readonly type: 'conflict' }
  | { readonly type: 'close' }

/** The state before the first review. */
export const IDLE: PublishState = { phase: 'idle' }

/**
 * Returns the state after a step. A step that is not possible returns the same state, so that a
 * second click, or an answer that arrives too late, has no effect.
 */
export function publishReducer(state: PublishState, action: PublishAction): PublishState {
  switch (action.type) {
    case 'review':
      return reviewed(state, action)
    case 'note':
      if (state.phase !== 'reviewing') return state
      return { ...state, review: { ...state.review, note: action.note } }
    case 'rebase':
      if (state.phase !== 'reviewing') return state
      return { ...state, review: { ...state.review, key: action.key, draft: action.draft } }
    case 'publish':
      if (state.phase !== 'reviewing' && state.phase !== 'unknown') return state
      return { phase: 'publishing', review: state.review }
    case 'close':
      return closed(state)
    default:
      return state.phase === 'publishing' ? answered(state.review, action) : state
  }
}

type Answer = Extract<PublishAction, { type: 'succeed' | 'refuse' | 'lose' | 'conflict' }>

function answered(review: Review, answer: Answer): PublishState {
  switch (answer.type) {
    case 'succeed':
      return { phase: 'published', publication: answer.publication }
    case 'refuse':
      return { phase: 'reviewing', review, refusal: answer.error }
    case 'lose':
      return { phase: 'unknown', review, reason: answer.error }
    case 'conflict':
      return { phase: 'conflict', review }
  }
}

type Start = Extract<PublishAction, { type: 'review' }>

function reviewed(state: PublishState, { key, draft }: Start): PublishState {
  if (isReviewOpen(state)) return state
  return { phase: 'reviewing', review: { key, draft, note: '' }, refusal: undefined }
}

/** A request that is on its way cannot be recalled, so its dialog stays open. */
function closed(state: PublishState): PublishState {
  return state.phase === 'publishing' || state.phase === 'idle' ? state : IDLE
}

/** Returns `true` if the review is shown. */
export function isReviewOpen({ phase }: PublishState): boolean {
  return phase === 'reviewing' || phase === 'publishing' || phase === 'unknown'
}
