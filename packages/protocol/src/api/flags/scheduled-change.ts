import * as z from 'zod'
import { creating, deleting, paging, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { FLAG_STATE } from '../paths.ts'
import { record } from '../record.ts'
import { id, instant, recordFields, timestamp } from '../scalars.ts'
import { auditActor } from '../users/audit-actor.ts'

/** A change of a flag in an environment that is made at an instant. */
export type ScheduledChange = z.output<typeof scheduledChangeCodec>

/** Each is an endpoint's name and does what that endpoint does. */
const operation = z.enum([
  'updateFlagState',
  'createTargetingRule',
  'updateTargetingRule',
  'deleteTargetingRule',
  'reorderTargetingRules',
  'createRollout',
  'updateRollout',
  'deleteRollout',
])
/** An operation that can be scheduled. */
export type ScheduledOperation = z.output<typeof operation>

/** The body that the endpoint takes; null for a deletion. */
const body = z.record(z.string(), z.json()).nullable()

const author = z.strictObject({
  ...auditActor.shape,
  source: z.enum(['token', 'user', 'host']).exactOptional(),
})

/** The codec of `ScheduledChange`. */
export const scheduledChangeCodec = record({
  id,
  flagId: id,
  environmentId: id,
  projectId: id,
  applyAt: timestamp,
  operation,
  /** The rule or the rollout that is changed; null where there is none yet. */
  targetId: id.nullable(),
  body,
  /** `failed` when it could not be made at its time; it is not tried again. */
  status: z.enum(['pending', 'applied', 'failed']),
  appliedAt: timestamp.nullable(),
  /** Why it failed. */
  failure: z.string().nullable(),
  /** The actor that makes the change, and the credential that authenticated it. */
  createdBy: author,
  ...recordFields,
})

/** The body of `createScheduledChange`. */
export type NewScheduledChange = z.output<typeof newScheduledChangeCodec>

/** The codec of `NewScheduledChange`. */
export const newScheduledChangeCodec = record({
  applyAt: instant,
  operation,
  targetId: id.nullable().optional(),
  body: body.optional(),
})

const SCHEDULED_CHANGES = `${FLAG_STATE}/scheduled-changes` as const
const status = z.enum(['pending', 'applied', 'failed']).optional()

const AUTHOR_NOTES =
  'The rights of the author are checked again when the change is due; without them the change fails ' +
  'with that reason.'

/** The endpoints of scheduled changes. */
export const scheduledChangeEndpoints = {
  listScheduledChanges: reading(SCHEDULED_CHANGES, {
    query: record({ status, ...paging }),
    response: pageOf(scheduledChangeCodec),
  }),
  createScheduledChange: creating(SCHEDULED_CHANGES, {
    body: newScheduledChangeCodec,
    notes: AUTHOR_NOTES,
    response: scheduledChangeCodec,
  }),
  /** Only while it is pending. */
  deleteScheduledChange: deleting(`${SCHEDULED_CHANGES}/{changeId}`),
}
