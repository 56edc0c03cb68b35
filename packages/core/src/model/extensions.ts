import type { BucketRange, RolloutDefinition } from './definition.ts'

/**
 * Optional abilities of the engine that are too large for the main entry. The caller passes them to
 * `compileFlagSet`; a flag that needs a missing one evaluates to its default with reason `ERROR`.
 */
export interface Extensions {
  /** Evaluates `matches` conditions. */
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
  /** Ascending and disjoint; none of a gradual rollout. */
  readonly ranges?: readonly Pick<BucketRange, 'from' | 'to'>[]
  readonly totalWeight?: number
}
