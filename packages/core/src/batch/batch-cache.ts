import type { VersionedCache } from '../evaluation/evaluation-cache.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { type Incremental, runToEnd } from '../model/incremental.ts'
import { FlagSetView } from './flag-set-view.ts'
import { compileRuleMatrix, type RuleMatrix } from './rule-matrix.ts'
import type { RuleMatrixEvaluator } from './rule-matrix-evaluator.ts'

/** The number of evaluations that share one array of outcome codes. */
const EVALUATIONS_PER_ARRAY = 16

/**
 * The cache for evaluations of all flags of a flag set. Each part is created on first use, so that
 * a program that evaluates only single flags does not create it.
 */
class BatchCache implements VersionedCache {
  matrix: RuleMatrix | undefined
  /** The number of evaluations of many flags without the rule matrix. */
  evaluationsAlone = 0
  /**
   * The evaluator. `undefined` while it is in use, because a getter in a context can run code that
   * evaluates flags.
   */
  evaluator: RuleMatrixEvaluator | undefined
  view: FlagSetView | undefined
  /** The rule matrix of an earlier version. `undefined` after it has been reused. */
  previousMatrix: RuleMatrix | undefined
  /** The view of an earlier version. `undefined` after it has been reused. */
  previousView: FlagSetView | undefined
  /** The array that contains the range that the last call of `reserve` returned. */
  codes = new Int32Array(0)
  #end = 0

  forNextVersion(): BatchCache {
    const next = new BatchCache()
    next.previousMatrix = this.matrix ?? this.previousMatrix
    next.previousView = this.view ?? this.previousView
    return next
  }

  /** Reserves a range of `length` codes in `codes`, and returns its start. */
  reserve(length: number): number {
    if (this.#end + length > this.codes.length) {
      this.codes = new Int32Array(EVALUATIONS_PER_ARRAY * length)
      this.#end = 0
    }
    this.#end += length
    return this.#end - length
  }
}

/** Returns the batch cache of a flag set. It is created on first use. */
export function batchCacheOf({ cache }: FlagSet): BatchCache {
  const existing = cache.batch
  if (existing instanceof BatchCache) return existing
  const created = new BatchCache()
  cache.batch = created
  return created
}

/** Returns the rule matrix of a flag set. It is compiled on first use. */
export function ruleMatrixOf(flagSet: FlagSet): RuleMatrix {
  return batchCacheOf(flagSet).matrix ?? runToEnd(prepareRuleMatrix(flagSet))
}

/**
 * Compiles the rule matrix of a flag set incrementally. Reuses parts of the previous rule matrix.
 */
export function* prepareRuleMatrix(flagSet: FlagSet): Incremental<RuleMatrix> {
  const cache = batchCacheOf(flagSet)
  const compiled = cache.matrix ?? (yield* compileRuleMatrix(flagSet, cache.previousMatrix))
  // An evaluation can have compiled the matrix during an interruption.
  cache.matrix ??= compiled
  cache.previousMatrix = undefined
  return cache.matrix
}

/**
 * Returns the `FlagSetView` of a flag set. It is created on first use, from the view of the
 * previous version if there is one.
 */
export function viewOf(flagSet: FlagSet): FlagSetView {
  const cache = batchCacheOf(flagSet)
  if (cache.view === undefined) {
    cache.view = new FlagSetView(flagSet.ordered, cache.previousView)
    cache.previousView = undefined
  }
  return cache.view
}
