import type { EvaluationContext } from '../model/context.ts'
import { type EvaluatedFlags, Evaluator } from './evaluator.ts'

/** A cache of which the next version of a flag set can reuse a part. */
export interface VersionedCache {
  /** Returns a new cache for the next version. */
  forNextVersion(): VersionedCache
}

/** What evaluating a flag set caches. No result depends on it. */
export class EvaluationCache {
  /** `undefined` while it is in use: reading a context may run code that evaluates flags, too. */
  evaluator: Evaluator | undefined
  /** The cache of `batch/`, which alone creates and reads it; `undefined` before its first use. */
  batch: VersionedCache | undefined

  constructor(previous: EvaluationCache | undefined) {
    this.batch = previous?.batch?.forNextVersion()
  }
}

interface CachedFlags extends EvaluatedFlags {
  readonly cache: EvaluationCache
}

/** Returns the evaluator of the flag set, or a new one while that is in use. */
export function takeEvaluator(
  flagSet: CachedFlags,
  context: EvaluationContext,
  now: number,
): Evaluator {
  const { cache } = flagSet
  const evaluator = cache.evaluator ?? new Evaluator(flagSet)
  cache.evaluator = undefined
  evaluator.begin(context, now)
  return evaluator
}

/** Makes the evaluator available for the next evaluation. */
export function giveBack({ cache }: CachedFlags, evaluator: Evaluator): void {
  evaluator.end()
  cache.evaluator = evaluator
}
