import { isSame } from './configuration.ts'

/** A draft of any value, with the steps for undo and redo. It is never changed in place. */
export interface History<T> {
  /** The published value from which the draft started. */
  readonly base: T
  readonly current: T
  /** The values before each step, the oldest first. */
  readonly past: readonly T[]
  /** The values of the undone steps, the next one first. */
  readonly future: readonly T[]
  /** The field of the last edit, whose further edits belong to the same step. `null` if none. */
  readonly field: string | null
}

/** The steps through the history of a draft. `settle` ends the step of a field. */
export type HistoryStep = { readonly type: 'undo' | 'redo' | 'resetAll' | 'settle' }

/** The maximum number of steps that can be undone. */
const MAX_STEPS = 200

/** Returns a draft without changes. */
export function startHistory<T>(base: T): History<T> {
  return { base, current: base, past: [], future: [], field: null }
}

/** Returns a draft with a base and another current value, for example after a reload. */
export function restoredHistory<T>(base: T, current: T): History<T> {
  return { ...startHistory(base), current }
}

/**
 * Returns a draft after an edit. Consecutive edits of the same `field` are one step; an edit with
 * `null` is a step of its own. An edit that changes nothing returns the same draft.
 */
export function withEdit<T, H extends History<T>>(draft: H, next: T, field: string | null): H {
  if (isSame(draft.current, next)) return draft
  const isContinued = field !== null && field === draft.field && draft.past.length > 0
  const past = isContinued ? draft.past : [...draft.past, draft.current].slice(-MAX_STEPS)
  // Typing back to the value before the step leaves nothing to undo.
  if (isContinued && isSame(past.at(-1), next)) {
    return { ...draft, current: next, past: past.slice(0, -1), future: [], field: null }
  }
  return { ...draft, current: next, past, future: [], field }
}

/** Returns a draft after a step through its history. */
export function withStep<T, H extends History<T>>(draft: H, { type }: HistoryStep): H {
  if (type === 'settle') return draft.field === null ? draft : { ...draft, field: null }
  if (type === 'resetAll') return withEdit<T, H>(draft, draft.base, null)
  return type === 'undo' ? undone(draft) : redone(draft)
}

function undone<T, H extends History<T>>(draft: H): H {
  const { past, current, future } = draft
  if (past.length === 0) return draft
  const steps = { past: past.slice(0, -1), future: [current, ...future] }
  return { ...draft, ...steps, current: past.at(-1) as T, field: null }
}

function redone<T, H extends History<T>>(draft: H): H {
  const { past, current, future } = draft
  if (future.length === 0) return draft
  const steps = { past: [...past, current], future: future.slice(1) }
  return { ...draft, ...steps, current: future[0] as T, field: null }
}

/** Returns `true` if a draft differs from its base. */
export function isChanged(draft: History<unknown>): boolean {
  return !isSame(draft.base, draft.current)
}

/** Returns `true` if an edit of a draft can be undone or redone. */
export function hasSteps({ past, future }: History<unknown>): boolean {
  return past.length > 0 || future.length > 0
}

/** Returns `true` if an action is a step through the history of a draft. */
export function isHistoryStep(action: { readonly type: string }): action is HistoryStep {
  return ['undo', 'redo', 'resetAll', 'settle'].includes(action.type)
}
