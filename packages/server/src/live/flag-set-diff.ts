import type { FlagSet } from '@ff/core'
import { type Evaluation, evaluateSome, onlyFlags, valuesOf } from '@ff/core/all-flags'
import { changedByGradualRollouts, changedFlags, changedValues, stepAt } from '@ff/core/changes'
import { type Evaluated, evaluateTimed } from '../evaluation/evaluated.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { MAX_DIFF_LENGTH } from '../runtime/memory-bounds.ts'
import { contextOfText, type SubscriberGroup } from './held-context.ts'

/** The last state of each flag set that was requested. */
const latest = new WeakMap<FlagSet, FlagSetState>()

/** A flag set between two of its timestamps: while a state lasts, the values of a context do not change. */
export class FlagSetState {
  readonly flagSet: FlagSet
  /** How many of the flag set's timestamps have passed. */
  readonly step: number
  /** A time within the state; epoch milliseconds. */
  readonly now: number

  private constructor(flagSet: FlagSet, step: number, now: number) {
    this.flagSet = flagSet
    this.step = step
    this.now = now
  }

  /** Returns the same object while the state lasts. */
  static of(flagSet: FlagSet, now: number): FlagSetState {
    const step = stepAt(flagSet, now)
    const known = latest.get(flagSet)
    if (known?.step === step) return known
    const state = new FlagSetState(flagSet, step, now)
    latest.set(flagSet, state)
    return state
  }
}

/** A text for sockets. Clients that receive the same text share one object, so that it is encoded only once. */
export interface Message {
  readonly text: string
}

/** What a client receives: all values, or those that differ from the last delivery. */
export interface FlagUpdate {
  readonly message: Message
  readonly full: boolean
  /** How the flags of the message were evaluated. */
  readonly evaluated: Evaluated
}

/** The update that contexts with the same outcomes share. */
interface SharedUpdate {
  readonly message: Message
  /** The flags whose values are sent, and how they were evaluated. */
  readonly evaluation: Omit<Evaluation, 'context'>
}

/** By the later state, then by the earlier one. */
const diffs = new WeakMap<FlagSetState, WeakMap<FlagSetState, FlagSetDiff>>()

/** Returns what has changed from one state to another, usually a later one. */
export function flagSetDiffOf(before: FlagSetState, after: FlagSetState): FlagSetDiff {
  const toAfter = getOrInsert(diffs, after, () => new WeakMap<FlagSetState, FlagSetDiff>())
  return getOrInsert(toAfter, before, () => new FlagSetDiff(before, after))
}

/**
 * The changes between two states of an environment, for one context after another. Contexts with
 * the same outcomes share the message; sessions of the last group share its evaluation.
 */
export class FlagSetDiff {
  readonly #before: FlagSetState
  readonly #after: FlagSetState
  /** The flags whose values can differ. */
  readonly #flagKeys: readonly string[]
  /** By the outcomes before and after; null: the values are the same. */
  readonly #shared = new Map<string, SharedUpdate | null>()
  #cachedLength = 0
  #last: { readonly group: SubscriberGroup; readonly update: FlagUpdate | undefined } | undefined

  constructor(before: FlagSetState, after: FlagSetState) {
    this.#before = before
    this.#after = after
    const changed = changedFlags(before.flagSet, after.flagSet)
    const [first, last] = [Math.min(before.now, after.now), Math.max(before.now, after.now)]
    const stepped = first === last ? [] : changedByGradualRollouts(after.flagSet, first, last)
    this.#flagKeys = [...new Set([...changed, ...stepped])]
  }

  /** The update for a context; `undefined` if its values are the same in both states. */
  updateFor(group: SubscriberGroup): FlagUpdate | undefined {
    if (this.#flagKeys.length === 0) return undefined
    if (this.#last?.group !== group) this.#last = { group, update: this.#evaluate(group) }
    return this.#last.update
  }

  #evaluate({ text }: SubscriberGroup): FlagUpdate | undefined {
    const { flagSet, now } = this.#after
    const context = contextOfText(text)
    const old = evaluateSome(this.#before.flagSet, this.#flagKeys, context, this.#before.now)
    const { evaluation, micros } = evaluateTimed({
      flagSet,
      context,
      now,
      flagKeys: this.#flagKeys,
    })
    const outcomes = `${old.codes.join()} ${evaluation.codes.join()}`
    let shared = this.#shared.get(outcomes)
    if (shared === undefined) {
      shared = this.#compare(old, evaluation)
      this.#cache(outcomes, shared)
    }
    if (shared === null) return undefined
    const evaluated = { flagSet, context, evaluation: { ...shared.evaluation, context }, micros }
    return { message: shared.message, full: false, evaluated }
  }

  #compare(old: Evaluation, evaluation: Evaluation): SharedUpdate | null {
    const { flags, removed } = changedValues(valuesOf(old), valuesOf(evaluation))
    if (removed.length === 0 && Object.keys(flags).length === 0) return null
    const { version } = this.#after.flagSet
    const gone = removed.length === 0 ? '' : `,"removed":${JSON.stringify(removed)}`
    const text = `{"type":"flags","flags":${JSON.stringify(flags)},"version":${version},"full":false${gone}}`
    // It is cached for other contexts with the same outcomes: the context itself must not be.
    const { context: _, ...kept } = onlyFlags(evaluation, (key) => Object.hasOwn(flags, key))
    return { message: { text }, evaluation: kept }
  }

  #cache(outcomes: string, shared: SharedUpdate | null): void {
    this.#cachedLength += outcomes.length + (shared?.message.text.length ?? 0)
    if (this.#cachedLength > MAX_DIFF_LENGTH) {
      this.#shared.clear()
      this.#cachedLength = 0
    }
    this.#shared.set(outcomes, shared)
  }
}
