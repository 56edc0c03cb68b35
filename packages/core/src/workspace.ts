import type { Evaluator } from './evaluator.ts'
import type { FlagSet } from './flag-set.ts'
import { FlagSetView } from './flag-set-view.ts'

/** How many evaluations share one array of results. */
const SHARES = 16

/**
 * What evaluating a flag set uses again and again, so that it need not be made for each answer.
 * No answer depends on it.
 */
export class Workspace {
  /** undefined while it is at work: reading a context may run code that evaluates, too. */
  evaluator: Evaluator | undefined
  #view: FlagSetView | undefined
  /** The last one of the versions before, for what has not changed; undefined when it has served. */
  #before: FlagSetView | undefined
  /** The array in which the last `reserve` found room. */
  codes = new Int32Array(0)
  #end = 0

  constructor(previous: Workspace | undefined) {
    this.#before = previous === undefined ? undefined : (previous.#view ?? previous.#before)
  }

  /** Made when it is first asked for. */
  viewOf({ ordered }: FlagSet): FlagSetView {
    if (this.#view === undefined) {
      this.#view = new FlagSetView(ordered, this.#before)
      this.#before = undefined
    }
    return this.#view
  }

  /** Finds room for so many numbers, which nobody else is given, and returns where it begins. */
  reserve(length: number): number {
    if (this.#end + length > this.codes.length) {
      this.codes = new Int32Array(SHARES * length)
      this.#end = 0
    }
    this.#end += length
    return this.#end - length
  }
}
