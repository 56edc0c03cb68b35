import * as z from 'zod'
import { record } from '../record.ts'
import { id, timestamp } from '../scalars.ts'
import { accessTokenCodec } from './access-token.ts'
import { environmentCodec } from './environment.ts'
import { flagCodec, flagViewCodec } from './flag.ts'
import { flagStateCodec } from './flag-state.ts'
import { reorderCodec } from './order.ts'
import { organizationCodec } from './organization.ts'
import { projectCodec } from './project.ts'
import { rolloutCodec } from './rollout.ts'
import { sdkKeyCodec } from './sdk-key.ts'
import { segmentCodec } from './segment.ts'
import { targetingRuleCodec } from './targeting-rule.ts'
import { variationCodec } from './variation.ts'

/** One acknowledged change, and who made it. */
export type AuditEvent = z.output<typeof auditEventCodec>

const auditActor = z.strictObject({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
})

export const auditEventCodec = record(
  {
    id,
    /** `resource.verb` in the past tense: a name of `auditEvents`. */
    eventType: z.string(),
    /** `{ before, after }` in wire spelling, `null` where there is none; never a secret. */
    payload: z.record(z.string(), z.json()),
    createdAt: timestamp,
    /** `resource:id`. */
    streamId: z.string(),
    /** Empty for what belongs to no organization. */
    orgId: z.string(),
    /** Empty for what belongs to no project. */
    projectId: z.string(),
    actorId: z.string(),
    actor: auditActor,
  },
  {
    createdAt: 'created_at',
    streamId: 'stream_id',
    orgId: 'org_id',
    projectId: 'project_id',
    actorId: 'actor_id',
  },
)

/** Of what kind of thing an event tells, and the fields it shows before and after. */
interface AuditEventRow {
  /** What stands before the colon of `stream_id`. */
  readonly stream: string
  readonly fields: z.ZodType
}

/** Every event that can be audited. An event that is not here cannot be written. */
export const auditEvents = {
  'organization.created': { stream: 'organization', fields: organizationCodec },
  'project.created': { stream: 'project', fields: projectCodec },
  'environment.created': { stream: 'environment', fields: environmentCodec },
  'sdk_key.created': { stream: 'sdk_key', fields: sdkKeyCodec },
  'token.created': { stream: 'token', fields: accessTokenCodec },
  'flag.created': { stream: 'flag', fields: flagViewCodec },
  'flag.updated': { stream: 'flag', fields: flagCodec },
  'flag.deleted': { stream: 'flag', fields: flagCodec },
  'flag_state.updated': { stream: 'flag_state', fields: flagStateCodec },
  'variation.created': { stream: 'variation', fields: variationCodec },
  'variation.updated': { stream: 'variation', fields: variationCodec },
  'variation.deleted': { stream: 'variation', fields: variationCodec },
  /** The stream is the flag whose variations were put in order. */
  'variation.reordered': { stream: 'flag', fields: reorderCodec },
  'targeting_rule.created': { stream: 'targeting_rule', fields: targetingRuleCodec },
  'targeting_rule.updated': { stream: 'targeting_rule', fields: targetingRuleCodec },
  'targeting_rule.deleted': { stream: 'targeting_rule', fields: targetingRuleCodec },
  /** The stream is the flag in the environment whose rules were put in order. */
  'targeting_rule.reordered': { stream: 'flag_state', fields: reorderCodec },
  'segment.created': { stream: 'segment', fields: segmentCodec },
  'rollout.created': { stream: 'rollout', fields: rolloutCodec },
} as const satisfies Record<string, AuditEventRow>

export type AuditEventType = keyof typeof auditEvents

/** The fields that an event of this type shows. */
export type AuditedFields<T extends AuditEventType> = z.output<(typeof auditEvents)[T]['fields']>
