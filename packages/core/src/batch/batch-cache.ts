import type { VersionedCache } from '../evaluation/evaluation-cache.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { type Incremental, runToEnd } from '../model/incremental.ts'
import { FlagSetView } from './flag-set-view.ts'
import { compileRuleMatrix, type RuleMatrix } from './rule-matrix.ts'
import type { RuleMatrixEvaluator } from './rule-matrix-evaluator.ts'

/** The number of evaluations that share one array of outcome codes. */
const EVALUATIONS_PER_ARRAY = 16

/**
 * What evaluating all flags of a flag set caches. Each part is built on first use, so that
 * evaluating single flags costs nothing here.
 */
class BatchCache implements VersionedCache {
  matrix: RuleMatrix | undefined
  /** `undefined` while it is in use: reading a context may run code that evaluates flags, too. */
  evaluator: RuleMatrixEvaluator | undefined
  view: FlagSetView | undefined
  /** Those of an earlier version, for reuse; `undefined` once they have been reused. */
  previousMatrix: RuleMatrix | undefined
  previousView: FlagSetView | undefined
  /** The array in which the last `reserve` found room. */
  codes = new Int32Array(0)
  #end = 0

  forNextVersion(): BatchCache {
    const next = new BatchCache()
    next.previousMatrix = this.matrix ?? this.previousMatrix
    next.previousView = this.view ?? this.previousView
    return next
  }

  /** Reserves room for so many codes in `codes`, and returns where it begins. */
  reserve(length: number): number {
    if (this.#end + length > this.codes.length) {
      this.codes = new Int32Array(EVALUATIONS_PER_ARRAY * length)
      this.#end = 0
    }
    this.#end += length
    return this.#end - length
  }
}

/** The batch cache of a flag set; created on first use. */
export function batchCacheOf({ cache }: FlagSet): BatchCache {
  const known = cache.batch
  if (known instanceof BatchCache) return known
  const created = new BatchCache()
  cache.batch = created
  return created
}

/** The rule matrix of a flag set; compiled on first use, from that of the previous version. */
export function ruleMatrixOf(flagSet: FlagSet): RuleMatrix {
  return batchCacheOf(flagSet).matrix ?? runToEnd(prepareRuleMatrix(flagSet))
}

/** Compiles the rule matrix of a flag set incrementally. */
export function* prepareRuleMatrix(flagSet: FlagSet): Incremental<RuleMatrix> {
  const cache = batchCacheOf(flagSet)
  const compiled = cache.matrix ?? (yield* compileRuleMatrix(flagSet, cache.previousMatrix))
  // An evaluation between two chunks may have compiled it as well.
  cache.matrix ??= compiled
  cache.previousMatrix = undefined
  return cache.matrix
}

/** The view of a flag set; built on first use, from that of the previous version. */
export function viewOf(flagSet: FlagSet): FlagSetView {
  const cache = batchCacheOf(flagSet)
  if (cache.view === undefined) {
    cache.view = new FlagSetView(flagSet.ordered, cache.previousView)
    cache.previousView = undefined
  }
  return cache.view
}
