import * as z from 'zod'
import { changing, reading } from '../endpoint.ts'
import { FLAG_STATE } from '../paths.ts'
import { record } from '../record.ts'
import { clearable, id, recordFields, text } from '../scalars.ts'

/** The state of a flag in one environment. */
export type FlagState = z.output<typeof flagStateCodec>

const contextKind = text(64).min(1)

const target = record({
  variationId: id,
  kind: contextKind.refine((kind) => kind !== 'multi', 'must not be "multi"'),
  keys: z.array(text(1024).min(1)).max(10_000),
})

const prerequisite = record({ flagId: id, variationIds: z.array(id).min(1).max(100) })

const targets = z.array(target).max(100)
const prerequisites = z.array(prerequisite).max(50)

/** The codec of `FlagState`. */
export const flagStateCodec = record({
  id,
  flagId: id,
  environmentId: id,
  projectId: id,
  isActive: z.boolean(),
  defaultVariationId: id.nullable(),
  offVariationId: id.nullable(),
  targets,
  prerequisites,
  ...recordFields,
})

/** The body of `updateFlagState`; absent fields stay unchanged. */
export type FlagStateChanges = z.output<typeof flagStateChangesCodec>

/** The codec of `FlagStateChanges`. */
export const flagStateChangesCodec = record({
  isActive: z.boolean().optional(),
  /** `null` selects the variation with `is_default`. */
  defaultVariationId: id.nullable().optional(),
  /** `null` selects the default variation. */
  offVariationId: id.nullable().optional(),
  targets: clearable(targets, []),
  prerequisites: clearable(prerequisites, []),
})

/** The endpoints of flag states. */
export const flagStateEndpoints = {
  getFlagState: reading(FLAG_STATE, { response: flagStateCodec }),
  updateFlagState: changing(FLAG_STATE, { body: flagStateChangesCodec, response: flagStateCodec }),
}
