import type { FlagSet } from '@ff/core'
import { stepAt } from '@ff/core/changes'

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
