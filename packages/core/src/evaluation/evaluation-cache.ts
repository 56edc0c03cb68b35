/** A cache that is partly reused by the next version of a flag set. */
export interface VersionedCache {
  /** Returns a new cache for the next version. */
  forNextVersion(): VersionedCache
}

/**
 * A cache of data structures that make evaluations of a flag set faster. The results are the same
 * without it.
 */
export class EvaluationCache {
  /**
   * The cache of `batch/`. Only `batch/` creates and reads it. `undefined` before its first use.
   */
  batch: VersionedCache | undefined

  constructor(previous: EvaluationCache | undefined) {
    this.batch = previous?.batch?.forNextVersion()
  }
}
