import * as z from 'zod'
import { changing, creating, cursorPaging, deleting, reading, truth } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { FLAG, FLAGS } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import {
  clearable,
  description,
  id,
  key,
  name,
  newKey,
  recordFields,
  text,
  timestamp,
} from '../scalars.ts'
import { newVariationCodec, variationCodec } from './variation.ts'

/** A flag of a project. Its configuration in each environment is a `FlagState`. */
export type Flag = z.output<typeof flagCodec>

/** A flag in a list: without its variations. */
export type ListedFlag = z.output<typeof listedFlagCodec>

/** A flag with its variations, sorted by `order_index`. */
export type FlagView = z.output<typeof flagViewCodec>

/** The type of the values of a flag. */
export const flagType = z.enum(['boolean', 'string', 'number', 'json'])
/** A tag of a flag, 1 to 64 characters. */
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

const listedFields = {
  ...fields,
  /** `true` if `archivedAt` is not `null`. */
  archived: z.boolean(),
}
const viewFields = { ...listedFields, variations: z.array(variationCodec) }

/** The codec of `ListedFlag`. */
export const listedFlagCodec = record(listedFields)

/** The codec of `FlagView`. */
export const flagViewCodec = record(viewFields)

/**
 * The body of `createFlag`. `name` defaults to the key, and `clientVisible` to the project's
 * `newFlagsClientVisible`. Only a boolean flag can be created without `variations`.
 */
export type NewFlag = z.output<typeof newFlagCodec>

/** The codec of `NewFlag`. */
export const newFlagCodec = record({
  key: newKey,
  name: name.optional(),
  description: description.optional(),
  type: flagType,
  tags: tags.optional(),
  clientVisible: z.boolean().optional(),
  variations: z.array(newVariationCodec).min(1).max(100).optional(),
})

/** The body of `updateFlag`; absent fields stay unchanged. */
export type FlagChanges = z.output<typeof flagChangesCodec>

/** The codec of `FlagChanges`. */
export const flagChangesCodec = changesOf(viewFields, {
  name: name.optional(),
  description: clearable(description, ''),
  tags: clearable(tags, []),
  /** `true` removes the flag from all evaluations and sets `archivedAt`; `false` restores it. */
  archived: z.boolean().optional(),
  clientVisible: z.boolean().optional(),
})

const CREATE_NOTES =
  "`client_visible` defaults to the project's `new_flags_client_visible`. Duplicate tags are " +
  'refused, and so are integers beyond 2^53 in variations of a flag of type `number`.'

const UPDATE_NOTES =
  '`archived: true` removes the flag from all evaluations and sets the read-only `archived_at`; ' +
  '`archived: false` restores the flag. `client_visible: false` hides the flag from SDK keys of ' +
  'kind `client`. Duplicate tags are refused.'

/** The endpoints of flags. */
export const flagEndpoints = {
  listFlags: reading(FLAGS, {
    query: record({
      /** Matches a part of the key, name or description, ignoring ASCII case. */
      search: text(256).min(1).optional(),
      tag: tag.optional(),
      archived: truth.optional(),
      ...cursorPaging,
    }),
    response: pageOf(listedFlagCodec),
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
