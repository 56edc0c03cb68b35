import { type Condition, endpoints, type ScheduledChange } from '@ff/protocol/management'
import * as z from 'zod'

/** The fields of the bodies of scheduled changes that refer to other resources, by id or by key. */
interface References {
  readonly variationId?: string | null
  readonly defaultVariationId?: string | null
  readonly offVariationId?: string | null
  readonly rolloutId?: string | null
  readonly segmentId?: string | null
  readonly conditions?: readonly Condition[]
  readonly targets?: readonly { readonly variationId: string }[] | null
  readonly variants?: readonly { readonly variationId: string }[] | null
  readonly prerequisites?: readonly Prerequisite[] | null
}

interface Prerequisite {
  readonly flagId: string
  readonly variationIds: readonly string[]
}

/** What a scheduled change refers to, when it is applied. */
export interface PendingReferences {
  /** The variations of the flag of the change. */
  readonly variations: ReadonlySet<string>
  readonly rollout: string | null
  readonly segment: string | null
  readonly prerequisites: readonly Prerequisite[]
  readonly conditions: readonly Condition[]
}

/** Returns what a scheduled change refers to. Resources are named by their id or their key. */
export function referencesOf({ operation, body, targetId }: ScheduledChange): PendingReferences {
  const codec: z.ZodType = endpoints[operation].body
  // A body that is no longer valid fails when the change is due.
  const named = (z.safeDecode(codec, body).data ?? {}) as References
  const { variationId, defaultVariationId, offVariationId, targets, variants } = named
  const listed = [...(targets ?? []), ...(variants ?? [])].map((each) => each.variationId)
  const variations = [variationId, defaultVariationId, offVariationId, ...listed]
  const target = operation.endsWith('Rollout') ? targetId : null
  return {
    variations: new Set(variations.filter((each) => typeof each === 'string')),
    rollout: named.rolloutId ?? target,
    segment: named.segmentId ?? null,
    prerequisites: named.prerequisites ?? [],
    conditions: named.conditions ?? [],
  }
}
