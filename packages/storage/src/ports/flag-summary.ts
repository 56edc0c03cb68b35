import type { GradualRolloutDefinition } from '@ff/core'

/** The fields of a flag record that only lists of flags read. They are derived from other records. */
export interface Summarized {
  /** The summary; `null` if it was not derived yet, because an earlier release wrote the flag. */
  readonly summary: StoredFlagSummary | null
  /**
   * Texts that describe the summary, by which a list selects flags. The control plane determines
   * their form.
   */
  readonly marks: readonly string[]
  /** The time of the last evaluation; the creation time if the flag was never evaluated. */
  readonly unusedSince: string
}

/** A short form of the configuration of a flag in all environments. It contains no values. */
export interface StoredFlagSummary {
  /** The variations in their order. */
  readonly variations: readonly {
    readonly id: string
    readonly key: string
    readonly name: string
  }[]
  /** One part for each environment with the flag, ordered by the ids of the environments. */
  readonly environments: readonly StoredEnvironmentSummary[]
}

/** A short form of the configuration of a flag in one environment. */
export interface StoredEnvironmentSummary extends SummarizedConfiguration {
  readonly environmentId: string
  /** The number of scheduled changes that are pending. */
  readonly pendingChanges: number
  /** A hash of the content of the configuration. Equal contents have equal hashes. */
  readonly contentHash: string
  /** The last version that changed the definition of the flag; `null` if it is not known. */
  readonly version: number | null
  /** The time of this version. */
  readonly changedAt: string | null
  /** The name of the actor who caused this version. */
  readonly changedBy: string | null
}

/** The part of a summary that is derived from the configuration in one environment. */
export interface SummarizedConfiguration {
  readonly isActive: boolean
  readonly shape: 'off' | 'everybody' | 'rules' | 'rollout' | 'experiment' | 'gradual'
  /** The variation that is served by default; `null` if the flag has no variation. */
  readonly defaultVariationId: string | null
  readonly offVariationId: string | null
  readonly ruleCount: number
  /** The number of rules with conditions or a segment that can be evaluated. */
  readonly conditionalRuleCount: number
  /** The variations that these rules serve without a rollout, each once. */
  readonly ruleVariationIds: readonly string[]
  /** The variation that is served if no rule with conditions and no rollout serves one. */
  readonly othersVariationId: string | null
  /** `true` if the rule of the first rollout has conditions or a segment. */
  readonly splitIsConditional: boolean
  /** The number of individually targeted keys. */
  readonly targetCount: number
  readonly prerequisiteCount: number
  /**
   * The split of the first rollout that a rule serves; `null` if there is none, or if it depends on
   * the time.
   */
  readonly split: readonly { readonly variationId: string; readonly percent: number }[] | null
  /** The first rollout that a rule serves, if it is gradual; otherwise `null`. */
  readonly gradualRollout: GradualRolloutDefinition | null
}
