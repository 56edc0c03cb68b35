import type { FlagSet } from '@ff/core'
import { type Evaluation, evaluateSome, onlyFlags, valuesOf } from '@ff/core/all-flags'
import { changedByGradualRollouts, changedFlags, changedValues, stepAt } from '@ff/core/changes'
import { type Evaluated, evaluateTimed } from '../evaluation/evaluated.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { MAX_DIFF_LENGTH } from '../runtime/memory-bounds.ts'
import { contextOfText, type SubscriberGroup } from './held-context.ts'

/** The last requested state of each flag set. */
const latest = new WeakMap<FlagSet, FlagSetState>()

/**
 * A flag set between two of its timestamps. Within a state, the values of a context do not change.
 */
export class FlagSetState {
  readonly flagSet: FlagSet
  /** The number of the flag set's timestamps that have passed. */
  readonly step: number
  /** A time within the state, in epoch milliseconds. */
  readonly now: number

  private constructor(flagSet: FlagSet, step: number, now: number) {
    this.flagSet = flagSet
    this.step = step
    this.now = now
  }

  /**
   * Returns the state of a flag set at `now`. Returns the same object for all times within the
   * state.
   */
  static of(flagSet: FlagSet, now: number): FlagSetState {
    const step = stepAt(flagSet, now)
    const known = latest.get(flagSet)
    if (known?.step === step) return known
    const state = new FlagSetState(flagSet, step, now)
    latest.set(flagSet, state)
    return state
  }
}

/**
 * A text message for sockets. Clients that receive the same text share one object, so that it is
 * encoded only once.
 */
export interface Message {
  readonly text: string
}

/** An update for a client: all values, or those that differ from the last delivery. */
export interface FlagUpdate {
  readonly message: Message
  /** `true` if the message contains all values. */
  readonly full: boolean
  /** The evaluation of the flags in the message. */
  readonly evaluated: Evaluated
}

/** The part of an update that contexts with the same outcomes share. */
interface SharedUpdate {
  readonly message: Message
  /** The evaluation of the flags in the message. */
  readonly evaluation: Omit<Evaluation, 'context'>
}

/** The diffs by the state after the change, then by the state before it. */
const diffs = new WeakMap<FlagSetState, WeakMap<FlagSetState, FlagSetDiff>>()

/** Returns the diff between two states. `after` is usually the later state. */
export function flagSetDiffOf(before: FlagSetState, after: FlagSetState): FlagSetDiff {
  const toAfter = getOrInsert(diffs, after, () => new WeakMap<FlagSetState, FlagSetDiff>())
  return getOrInsert(toAfter, before, () => new FlagSetDiff(before, after))
}

/**
 * The changes between two states of an environment. Contexts with the same outcomes share one
 * message. Consecutive sessions of the same group share one evaluation.
 */
export class FlagSetDiff {
  readonly #before: FlagSetState
  readonly #after: FlagSetState
  /** The keys of the flags that can have different values in the two states. */
  readonly #flagKeys: readonly string[]
  /** Updates by the outcomes before and after; `null` if the values are the same. */
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

  /** Returns the update for a context; `undefined` if its values are the same in both states. */
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
    // The result is cached for other contexts with the same outcomes, so it must not contain this
    // context.
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
