import * as z from 'zod'
import { record } from '../record.ts'
import { id, instant, recordFields, recordNames, timestamp } from '../scalars.ts'
import { auditActor } from './audit-actor.ts'

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
export type ScheduledOperation = z.output<typeof operation>

/** The body that the endpoint takes; null for a deletion. */
const body = z.record(z.string(), z.json()).nullable()

const author = z.strictObject({
  ...auditActor.shape,
  source: z.enum(['token', 'user', 'host']).exactOptional(),
})

const names = { applyAt: 'apply_at', targetId: 'target_id' } as const

export const scheduledChangeCodec = record(
  {
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
    /** Who it is made as, and what the server recognized them by. */
    createdBy: author,
    ...recordFields,
  },
  {
    flagId: 'flag_id',
    environmentId: 'environment_id',
    projectId: 'project_id',
    appliedAt: 'applied_at',
    createdBy: 'created_by',
    ...names,
    ...recordNames,
  },
)

export type NewScheduledChange = z.output<typeof newScheduledChangeCodec>

export const newScheduledChangeCodec = record(
  { applyAt: instant, operation, targetId: id.nullable().optional(), body: body.optional() },
  names,
)
