// The types of the definitions in vector files, as `docs/vectors.md` describes them.

/** Any JSON value. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json }
/** An object of JSON values. */
export type Fields = { readonly [name: string]: Json }

/** A condition of a rule or segment. */
export interface Condition {
  readonly attribute: string
  readonly operator: string
  readonly value: string
  readonly negate?: boolean
}

/** A targeting rule. */
export interface Rule {
  readonly id: string
  readonly orderIndex: number
  readonly createdAt: string
  readonly conditions: readonly Condition[]
  readonly segmentId: string | null
  readonly variationId: string | null
  readonly rolloutId: string | null
}

/** The buckets of a variation. */
export interface Range {
  readonly variationId: string
  readonly from: number
  readonly to: number
}

/** A rollout with ranges, or a gradual rollout. */
export interface Rollout {
  readonly id: string
  readonly bucketBy: string
  readonly salt: string
  readonly scheme: string
  readonly strategy: string
  readonly ranges?: readonly Range[]
  readonly variationId?: string
  readonly targetPercentage?: number
  readonly increment?: number
  readonly intervalHours?: number
  readonly startAt?: string
}

/** A flag. */
export interface Flag {
  readonly id: string
  readonly key: string
  readonly type: string
  readonly isActive: boolean
  readonly variations: readonly {
    readonly id: string
    readonly key: string
    readonly value: string
  }[]
  readonly defaultVariationId: string
  readonly offVariationId: string | null
  readonly targets: readonly {
    readonly variationId: string
    readonly kind: string
    readonly keys: readonly string[]
  }[]
  readonly prerequisites: readonly {
    readonly flagId: string
    readonly variationIds: readonly string[]
  }[]
  readonly rules: readonly Rule[]
  readonly rollouts: readonly Rollout[]
}

/** A segment. */
export interface Segment {
  readonly id: string
  readonly rules: readonly Condition[]
  readonly logicalOp: string
  readonly force: boolean
  readonly keyAttribute: string
  readonly included: readonly string[]
  readonly excluded: readonly string[]
}

/** A flag set. */
export interface PortedSet {
  readonly flags: readonly Flag[]
  readonly segments: readonly Segment[]
}
