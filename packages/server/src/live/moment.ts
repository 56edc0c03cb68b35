import type { FlagSet } from '@ff/core'
import { changedByGradualRollouts, changedFlags, stepAt } from '@ff/core/changes'
import { Difference } from './difference.ts'

/** The last moment of each flag set that somebody asked for. */
const latest = new WeakMap<FlagSet, Moment>()

/** A flag set between two of its instants: as long as it lasts, every context keeps its answers. */
export class Moment {
  readonly flagSet: FlagSet
  /** How many of the flag set's instants have passed. */
  readonly step: number
  /** An instant within it; epoch milliseconds. */
  readonly now: number
  readonly #differences = new WeakMap<Moment, Difference>()

  private constructor(flagSet: FlagSet, step: number, now: number) {
    this.flagSet = flagSet
    this.step = step
    this.now = now
  }

  /** The very same object, as long as it lasts. */
  static of(flagSet: FlagSet, now: number): Moment {
    const step = stepAt(flagSet, now)
    const known = latest.get(flagSet)
    if (known?.step === step) return known
    const moment = new Moment(flagSet, step, now)
    latest.set(flagSet, moment)
    return moment
  }

  /** What has changed since another moment, usually an earlier one. */
  since(before: Moment): Difference {
    const known = this.#differences.get(before)
    if (known !== undefined) return known
    const changed = changedFlags(before.flagSet, this.flagSet)
    const [first, last] = [Math.min(before.now, this.now), Math.max(before.now, this.now)]
    const ramped = first === last ? [] : changedByGradualRollouts(this.flagSet, first, last)
    const flagKeys = [...new Set([...changed, ...ramped])]
    const difference = new Difference({ before, after: this, flagKeys })
    this.#differences.set(before, difference)
    return difference
  }
}
