import * as z from 'zod'
import { changing, creating, deleting, paging, reading, truth } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { FLAG, FLAGS } from '../paths.ts'
import { record } from '../record.ts'
import { clearable, description, id, key, name, recordFields, text, timestamp } from '../scalars.ts'
import { newVariationCodec, variationCodec } from './variation.ts'

/** A flag of a project; what differs by environment is its `FlagState`. */
export type Flag = z.output<typeof flagCodec>

/** A flag as it is answered alone, with its variations by `order_index`. */
export type FlagView = z.output<typeof flagViewCodec>

const flagType = z.enum(['boolean', 'string', 'number', 'json'])
/** A tag of a flag. */
export const tag = text(64).trim().min(1)
const tags = z.array(tag).max(64)

const fields = {
  id,
  projectId: id,
  key,
  name,
  description,
  type: flagType,
  tags,
  clientVisible: z.boolean(),
  archivedAt: timestamp.nullable(),
  lastEvaluatedAt: timestamp.nullable(),
  ...recordFields,
}

/** The codec of `Flag`. */
export const flagCodec = record(fields)

/** The codec of `FlagView`. */
export const flagViewCodec = record({ ...fields, variations: z.array(variationCodec) })

/**
 * The name is the key unless given, and `clientVisible` is what the project says. Only a boolean flag
 * may leave out its variations.
 */
export type NewFlag = z.output<typeof newFlagCodec>

/** The codec of `NewFlag`. */
export const newFlagCodec = record({
  key,
  name: name.optional(),
  description: description.optional(),
  type: flagType,
  tags: tags.optional(),
  clientVisible: z.boolean().optional(),
  variations: z.array(newVariationCodec).min(1).max(100).optional(),
})

/** The body of `updateFlag`; absent fields stay as they are. */
export type FlagChanges = z.output<typeof flagChangesCodec>

/** The codec of `FlagChanges`. */
export const flagChangesCodec = record({
  name: name.optional(),
  description: clearable(description, ''),
  tags: clearable(tags, []),
  /** `true` takes the flag out of all results, `false` brings it back. */
  archived: z.boolean().optional(),
  clientVisible: z.boolean().optional(),
})

const CREATE_NOTES =
  "Without `client_visible`, the project's `new_flags_client_visible` decides. Integers beyond 2^53 " +
  'in variations of the type `number` are refused, and so are equal tags.'

const UPDATE_NOTES =
  '`client_visible: false` hides the flag from SDK keys of the kind `client`. Equal tags are refused.'

/** The endpoints of flags. */
export const flagEndpoints = {
  listFlags: reading(FLAGS, {
    query: record({
      /** Occurs in the key, the name or the description, ignoring ASCII case. */
      search: text(256).min(1).optional(),
      tag: tag.optional(),
      archived: truth.optional(),
      ...paging,
    }),
    response: pageOf(flagCodec),
  }),
  createFlag: creating(FLAGS, { body: newFlagCodec, notes: CREATE_NOTES, response: flagViewCodec }),
  getFlag: reading(FLAG, { response: flagViewCodec }),
  updateFlag: changing(FLAG, {
    body: flagChangesCodec,
    notes: UPDATE_NOTES,
    response: flagViewCodec,
  }),
  deleteFlag: deleting(FLAG),
}
