import type { BucketRange, RolloutDefinition } from './definition.ts'

/**
 * Parts that a flag set may need and that are too large for everybody to carry. Whoever compiles
 * the set hands them in; a flag that needs one which is not there answers with reason `ERROR`.
 */
export interface Engines {
  /** What `matches` conditions are judged by. */
  readonly regex?: RegexEngine
  /** Other systems' bucketing formulas, by the name that a rollout gives as its `scheme`. */
  readonly schemes?: ReadonlyMap<string, BucketingScheme>
}

/** Makes a search for a pattern anywhere in a text; undefined: the pattern is invalid. */
export type RegexEngine = (
  pattern: string,
  flags: { readonly ignoreCase: boolean },
) => ((text: string) => boolean) | undefined

/**
 * Prepares another system's formula for one rollout, and answers which bucket, 0…99 999, it gives
 * a key. Which variation that is, the rollout's ranges say, as ever. Never throws.
 */
export type BucketingScheme = (settings: BucketingSettings) => (key: string) => number

/** What a formula may look at; every rollout has it. */
export interface BucketingSettings {
  readonly salt: string
  /** Some systems compare or hash otherwise when there are several variations. */
  readonly strategy: RolloutDefinition['strategy']
  /** Ascending and disjoint; none of a ramp. */
  readonly ranges?: readonly Pick<BucketRange, 'from' | 'to'>[]
  readonly totalWeight?: number
}
