import * as z from 'zod'
import type { Configuration } from '../draft/configuration.ts'
import type { FlagFields } from '../draft/flag-edits.ts'
import type { SegmentFields } from '../draft/segment-draft.ts'

const nullableText = z.string().nullable()
const nullableNumber = z.number().nullable()

// Unlike the codecs of the API, this schema accepts values that are still being typed. Fields that
// it does not list are dropped.
const condition = z.object({
  attribute: z.string(),
  operator: z.string(),
  value: z.string(),
  negate: z.boolean().exactOptional(),
})

const configuration: z.ZodType<Configuration> = z.object({
  state: z.object({
    isActive: z.boolean(),
    defaultVariationId: nullableText,
    offVariationId: nullableText,
    targets: z.array(
      z.object({ variationId: z.string(), kind: z.string(), keys: z.array(z.string()) }),
    ),
    prerequisites: z.array(z.object({ flagId: z.string(), variationIds: z.array(z.string()) })),
  }),
  targetingRules: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      kind: z.enum(['segment', 'custom']),
      conditions: z.array(condition),
      segmentId: nullableText,
      variationId: nullableText,
      rolloutId: nullableText,
    }),
  ),
  rollouts: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      strategy: z.enum(['percentage', 'variant', 'gradual']),
      bucketBy: z.string(),
      salt: z.string(),
      scheme: z.string(),
      variationId: nullableText,
      percentage: nullableNumber,
      variants: z.array(z.object({ variationId: z.string(), weight: z.number() })).nullable(),
      targetPercentage: nullableNumber,
      increment: nullableNumber,
      intervalHours: nullableNumber,
      startAt: nullableText,
    }),
  ),
  revision: z.number(),
})

/** The stored form of the draft of a configuration. */
export const storedFlagDraft = z.object({
  etag: z.string(),
  version: nullableNumber,
  base: configuration,
  current: configuration,
})

const keyChanges = z.object({ add: z.array(z.string()), remove: z.array(z.string()) })

const segmentFields: z.ZodType<SegmentFields> = z.object({
  name: z.string(),
  description: z.string(),
  rules: z.array(condition),
  logicalOp: z.enum(['AND', 'OR', 'NOT']),
  force: z.boolean(),
  keyAttribute: z.string(),
  included: keyChanges,
  excluded: keyChanges,
})

/** The stored form of the draft of a segment. */
export const storedSegmentDraft = z.object({
  revision: z.number(),
  base: segmentFields,
  current: segmentFields,
})

const flagFields: z.ZodType<FlagFields> = z.object({
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  clientVisible: z.boolean(),
  variations: z.array(
    z.object({
      id: z.string(),
      key: z.string(),
      name: z.string(),
      description: z.string(),
      value: z.string(),
      isDefault: z.boolean(),
    }),
  ),
})

/** The stored form of the draft of the fields of a flag. */
export const storedFlagFieldsDraft = z.object({ base: flagFields, current: flagFields })

const newFlag = z.object({
  name: z.string(),
  // JSON has no field for `undefined`.
  ownKey: z
    .string()
    .nullish()
    .transform((key) => key ?? undefined),
  type: z.enum(['boolean', 'string', 'number', 'json']),
  variations: z.array(z.object({ id: z.string(), key: z.string(), value: z.string() })).readonly(),
  servedId: z.string(),
  toggled: z.array(z.string()).readonly(),
  comment: z.string(),
})

/** The form of a new flag. */
export type NewFlagFields = z.output<typeof newFlag>

/** The stored form of the draft of a new flag. */
export const storedNewFlagDraft = z.object({ base: newFlag, current: newFlag })
