import { flagSetDefinitionSchema } from '@ff/core/schema'
import * as z from 'zod'

const { flags, segments } = flagSetDefinitionSchema.shape
const version = z.int().min(0)

const root = z
  .string()
  .describe('The root of the flag set, which identifies its definitions: 64 hexadecimal digits.')

const keyChangesSchema = z.object({ added: z.array(z.string()), removed: z.array(z.string()) })

const changedFlagSchema = z.object({
  id: z.string(),
  definition: flags.element.nullable().describe('`null` if the flag was removed.'),
})

const changedSegmentSchema = z.object({
  id: z.string(),
  definition: segments.element
    .omit({ included: true, excluded: true })
    .nullable()
    .describe('The segment without its listed keys; `null` if the segment was removed.'),
  included: keyChangesSchema,
  excluded: keyChangesSchema,
})

const wholeFlagSetSchema = flagSetDefinitionSchema.extend({ root })

const flagSetDiffSchema = z.object({
  from: version.describe('The `since` of the request.'),
  to: version,
  clientVersion: version.exactOptional(),
  flags: z.array(changedFlagSchema),
  segments: z.array(changedSegmentSchema),
  root: root.describe('The root of the flag set after the changes.'),
})

const flagSetUpdateSchema = z
  .union([wholeFlagSetSchema, flagSetDiffSchema])
  .describe('The whole flag set, or the changes since the version in the request.')

/** The codecs from which schemas of evaluation clients are generated. */
export const sdkCodecs = {
  wholeFlagSetSchema,
  keyChangesSchema,
  changedFlagSchema,
  changedSegmentSchema,
  flagSetDiffSchema,
  flagSetUpdateSchema,
}
