import * as z from 'zod'
import { changing, creating, cursorQuery, deleting, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { PROJECT } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import {
  attributeName,
  attributeReference,
  clearable,
  count,
  description,
  id,
  key,
  name,
  newKey,
  recordFields,
  text,
} from '../scalars.ts'
import { CONDITION_NOTES, conditionInputs, conditions } from './condition.ts'

/** A named group of contexts. The rules of all flags of the project can refer to it. */
export type Segment = z.output<typeof segmentCodec>

const segmentLogicalOp = z.enum(['AND', 'OR', 'NOT'])

const fields = {
  id,
  projectId: id,
  key,
  name,
  description,
  rules: conditions,
  logicalOp: segmentLogicalOp,
  force: z.boolean(),
  keyAttribute: attributeReference,
  includedCount: count,
  excludedCount: count,
  ...recordFields,
}

/** The codec of `Segment`. */
export const segmentCodec = record(fields)

/** The body of `createSegment`. `name` defaults to the key. */
export type NewSegment = z.output<typeof newSegmentCodec>

/** The codec of `NewSegment`. */
export const newSegmentCodec = record({
  key: newKey,
  name: name.optional(),
  description: description.optional(),
  rules: conditionInputs.optional(),
  logicalOp: segmentLogicalOp.optional(),
  force: z.boolean().optional(),
  keyAttribute: attributeName.optional(),
})

/** The body of `updateSegment`; absent fields stay unchanged. */
export type SegmentChanges = z.output<typeof segmentChangesCodec>

/** The codec of `SegmentChanges`. */
export const segmentChangesCodec = changesOf(fields, {
  name: name.optional(),
  description: clearable(description, ''),
  rules: clearable(conditionInputs, []),
  logicalOp: clearable(segmentLogicalOp, 'AND'),
  force: clearable(z.boolean(), false),
  keyAttribute: clearable(attributeName, 'user.key'),
})

/** The body of `changeSegmentKeys`: keys to add to and remove from one list of a segment. */
export type SegmentKeys = z.output<typeof segmentKeysCodec>

/** The codec of keys that are added to or removed from a list of a segment. */
export const listedKeys = z.array(text(1024).min(1)).max(10_000)

/** The codec of `SegmentKeys`. */
export const segmentKeysCodec = record({
  list: z.enum(['included', 'excluded']),
  add: listedKeys.optional(),
  remove: listedKeys.optional(),
})

const SEGMENTS = `${PROJECT}/segments` as const

/** The endpoints of segments. */
export const segmentEndpoints = {
  listSegments: reading(SEGMENTS, { query: cursorQuery, response: pageOf(segmentCodec) }),
  createSegment: creating(SEGMENTS, {
    body: newSegmentCodec,
    notes: CONDITION_NOTES,
    response: segmentCodec,
  }),
  getSegment: reading(`${SEGMENTS}/{segmentId}`, { response: segmentCodec }),
  updateSegment: changing(`${SEGMENTS}/{segmentId}`, {
    body: segmentChangesCodec,
    notes: CONDITION_NOTES,
    response: segmentCodec,
  }),
  deleteSegment: deleting(`${SEGMENTS}/{segmentId}`),
  /** A request can add and remove at most 10,000 keys in total. */
  changeSegmentKeys: changing(`${SEGMENTS}/{segmentId}/keys`, {
    method: 'POST',
    body: segmentKeysCodec,
    maxBodyBytes: 1024 * 1024,
    response: segmentCodec,
  }),
}
