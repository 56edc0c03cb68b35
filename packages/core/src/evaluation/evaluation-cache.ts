/** A cache of which the next version of a flag set can reuse a part. */
export interface VersionedCache {
  /** Returns a new cache for the next version. */
  forNextVersion(): VersionedCache
}

/** What evaluating a flag set caches. No result depends on it. */
export class EvaluationCache {
  /** The cache of `batch/`, which alone creates and reads it; `undefined` before its first use. */
  batch: VersionedCache | undefined

  constructor(previous: EvaluationCache | undefined) {
    this.batch = previous?.batch?.forNextVersion()
  }
}
