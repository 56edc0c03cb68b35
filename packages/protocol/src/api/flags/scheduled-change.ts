import * as z from 'zod'
import { creating, deleting, paging, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { FLAG_STATE } from '../paths.ts'
import { record } from '../record.ts'
import { id, instant, recordFields, timestamp } from '../scalars.ts'
import { auditActor } from '../users/audit-actor.ts'

/** A change of a flag in an environment that is applied at a set time. */
export type ScheduledChange = z.output<typeof scheduledChangeCodec>

/** The names of the endpoints that can be scheduled. */
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

/** The request body of the endpoint; `null` for a deletion. */
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
  /** The id of the rule or rollout to change; `null` for other operations. */
  targetId: id.nullable(),
  body,
  /** `failed` if the change could not be applied. It is not retried. */
  status: z.enum(['pending', 'applied', 'failed']),
  appliedAt: timestamp.nullable(),
  /** The reason why the change failed; `null` if it has not failed. */
  failure: z.string().nullable(),
  /** The comment of the author, which the applied change has too; `null` if there is none. */
  comment: z.string().nullable(),
  /** The author of the change and the kind of credential that authenticated the author. */
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
  'The permissions of the author are checked again when the change is due. If they are missing, ' +
  'the change fails and `failure` contains the reason.'

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
  /** Only a pending change can be deleted. */
  deleteScheduledChange: deleting(`${SCHEDULED_CHANGES}/{changeId}`),
}
