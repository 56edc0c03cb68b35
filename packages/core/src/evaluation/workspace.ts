import type { FlagSetView } from '../batch/flag-set-view.ts'
import type { RuleMatrix } from '../batch/rule-matrix.ts'
import type { Evaluator } from './evaluator.ts'

/** How many evaluations share one array of results. */
const SHARES = 16

/**
 * What evaluating a flag set uses again and again, each part made when it is first needed: who
 * evaluates one flag at a time pays nothing for all. No answer depends on it.
 */
export class Workspace {
  /** undefined while it is at work: reading a context may run code that evaluates, too. */
  evaluator: Evaluator | undefined
  matrix: RuleMatrix | undefined
  view: FlagSetView | undefined
  /** The last ones of the versions before, for what has not changed; undefined when they have served. */
  matrixBefore: RuleMatrix | undefined
  viewBefore: FlagSetView | undefined
  /** The array in which the last `reserve` found room. */
  codes = new Int32Array(0)
  #end = 0

  constructor(previous: Workspace | undefined) {
    this.matrixBefore = previous?.matrix ?? previous?.matrixBefore
    this.viewBefore = previous?.view ?? previous?.viewBefore
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
