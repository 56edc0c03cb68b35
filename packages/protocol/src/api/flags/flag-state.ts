import * as z from 'zod'
import { changing, reading } from '../endpoint.ts'
import { FLAG_STATE } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import { clearable, id, idOrKey, recordFields, text } from '../scalars.ts'

/** The state of a flag in one environment. */
export type FlagState = z.output<typeof flagStateCodec>

const contextKind = text(64).min(1)

/** Returns the codec of targets, in which `reference` names the variations. */
function targetsOf(reference: typeof id | typeof idOrKey) {
  const target = record({
    variationId: reference,
    kind: contextKind.refine((kind) => kind !== 'multi', 'must not be "multi"'),
    keys: z.array(text(1024).min(1)).max(10_000),
  })
  return z.array(target).max(100)
}

/** Returns the codec of prerequisites, in which `reference` names the flags and variations. */
function prerequisitesOf(reference: typeof id | typeof idOrKey) {
  const variationIds = z.array(reference).min(1).max(100)
  return z.array(record({ flagId: reference, variationIds })).max(50)
}

/** The fields of a flag state that users choose. */
export const flagStateSettings = {
  isActive: z.boolean(),
  defaultVariationId: id.nullable(),
  offVariationId: id.nullable(),
  targets: targetsOf(id),
  prerequisites: prerequisitesOf(id),
}

const fields = {
  id,
  flagId: id,
  environmentId: id,
  projectId: id,
  ...flagStateSettings,
  ...recordFields,
}

/** The fields of a flag state in a request. Variations and flags are named by their ids or keys. */
export const flagStateInputs = {
  isActive: z.boolean().optional(),
  /** `null` selects the variation with `is_default`. */
  defaultVariationId: idOrKey.nullable().optional(),
  /** `null` selects the default variation. */
  offVariationId: idOrKey.nullable().optional(),
  targets: clearable(targetsOf(idOrKey), []),
  prerequisites: clearable(prerequisitesOf(idOrKey), []),
}

/** The codec of `FlagState`. */
export const flagStateCodec = record(fields)

/**
 * The body of `updateFlagState`; absent fields stay unchanged. Variations and flags are named by
 * their ids or keys.
 */
export type FlagStateChanges = z.output<typeof flagStateChangesCodec>

/** The codec of `FlagStateChanges`. */
export const flagStateChangesCodec = changesOf(fields, flagStateInputs)

/** The endpoints of flag states. */
export const flagStateEndpoints = {
  getFlagState: reading(FLAG_STATE, { response: flagStateCodec }),
  updateFlagState: changing(FLAG_STATE, { body: flagStateChangesCodec, response: flagStateCodec }),
}
