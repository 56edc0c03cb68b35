import type { BucketRange, RolloutDefinition } from './definition.ts'

/**
 * Optional features of the engine, which the caller passes to `compileFlagSet`. They are not part
 * of the main entry, because they are large. A flag that needs a missing extension serves its
 * default variation with the reason `ERROR`.
 */
export interface Extensions {
  /** The regular expressions of `matches` conditions. */
  readonly regex?: RegexEngine
  /** The bucketing formulas of other systems, by the name that a rollout has as its `scheme`. */
  readonly schemes?: ReadonlyMap<string, BucketingScheme>
}

/**
 * Creates a function that searches a text for a pattern. Returns `undefined` if the pattern is
 * invalid.
 */
export type RegexEngine = (
  pattern: string,
  flags: { readonly ignoreCase: boolean },
) => ((text: string) => boolean) | undefined

/**
 * Creates the bucketing formula of another system for one rollout. The formula returns the bucket
 * of a key, an integer in 0…99,999. Neither function throws.
 */
export type BucketingScheme = (settings: BucketingSettings) => (key: string) => number

/** The settings of a rollout that a bucketing formula can use. */
export interface BucketingSettings {
  readonly salt: string
  /** The strategy of the rollout. Some systems use another formula for several variations. */
  readonly strategy: RolloutDefinition['strategy']
  /** The ranges in ascending order, without overlaps. Absent for a gradual rollout. */
  readonly ranges?: readonly Pick<BucketRange, 'from' | 'to'>[]
  /** See `RangeRolloutDefinition.totalWeight`. */
  readonly totalWeight?: number
}
