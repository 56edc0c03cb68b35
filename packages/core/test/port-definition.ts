/** The definitions of the vectors, as `docs/vectors.md` describes them. */

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json }
export type Fields = { readonly [name: string]: Json }

export interface Condition {
  readonly attribute: string
  readonly operator: string
  readonly value: string
  readonly negate?: boolean
}

export interface Rule {
  readonly id: string
  readonly orderIndex: number
  readonly createdAt: string
  readonly conditions: readonly Condition[]
  readonly segmentId: string | null
  readonly variationId: string | null
  readonly rolloutId: string | null
}

export interface Range {
  readonly variationId: string
  readonly from: number
  readonly to: number
}

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

export interface Segment {
  readonly id: string
  readonly rules: readonly Condition[]
  readonly logicalOp: string
  readonly force: boolean
  readonly keyAttribute: string
  readonly included: readonly string[]
  readonly excluded: readonly string[]
}

export interface PortedSet {
  readonly flags: readonly Flag[]
  readonly segments: readonly Segment[]
}
