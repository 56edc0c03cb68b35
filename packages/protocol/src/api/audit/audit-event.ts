import * as z from 'zod'
import { billingCodec } from '../billing/checkout.ts'
import { invoiceCodec } from '../billing/invoice.ts'
import { planCodec } from '../billing/plan.ts'
import { cursorPaging, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { environmentCodec } from '../environments/environment.ts'
import { projectCodec } from '../environments/project.ts'
import { rotatedSdkKeyCodec, sdkKeyCodec } from '../environments/sdk-key.ts'
import { restoredVersionCodec } from '../environments/version.ts'
import { flagCodec, flagViewCodec } from '../flags/flag.ts'
import { configuredFlagCodec } from '../flags/flag-configuration.ts'
import { flagStateCodec } from '../flags/flag-state.ts'
import { promotedFlagCodec } from '../flags/promotion.ts'
import { reorderCodec } from '../flags/reorder.ts'
import { rolloutCodec } from '../flags/rollout.ts'
import { scheduledChangeCodec } from '../flags/scheduled-change.ts'
import { segmentCodec } from '../flags/segment.ts'
import { targetingRuleCodec } from '../flags/targeting-rule.ts'
import { variationCodec } from '../flags/variation.ts'
import { organizationCodec } from '../organizations/organization.ts'
import { record } from '../record.ts'
import { count, instant, text, timestamp } from '../scalars.ts'
import { accessTokenCodec } from '../users/access-token.ts'
import { auditActor } from '../users/audit-actor.ts'
import { memberCodec } from '../users/member.ts'
import { webhookCodec } from './webhook.ts'

/** A committed change, a log-in or a refused log-in, with its actor. */
export type AuditEvent = z.output<typeof auditEventCodec>

/** The codec of `AuditEvent`. */
export const auditEventCodec = record(
  {
    /** The name of the chain and the sequence number, such as `changes:3f…:000000000017`. */
    id: z.string(),
    /** A key of `auditEvents`: resource and verb in the past tense, such as `flag.updated`. */
    eventType: z.string(),
    /** `{ before, after }` with wire names; either can be `null`. Contains no secrets. */
    payload: z.record(z.string(), z.json()),
    createdAt: timestamp,
    /** The affected resource, as `resource:id`. */
    streamId: z.string(),
    /** The reason that the actor gave (header `X-FF-Comment`); `null` if there is none. */
    comment: z.string().nullable(),
    /** Empty if the resource belongs to no organization. */
    orgId: z.string(),
    /** Empty if the resource belongs to no project. */
    projectId: z.string(),
    actorId: text(512),
    actor: auditActor,
    /** The position of the entry in its chain, from 1. */
    sequence: z.int().min(1),
    /** The hash of the previous entry of the chain; empty for the first entry. */
    previousHash: z.string(),
    /**
     * SHA-256, in hexadecimal, of all fields above as canonical JSON (RFC 8785), without `comment`
     * if it is `null`.
     */
    hash: z.string(),
  },
  { eventType: 'eventType' },
)

/** The result of verifying the hash chains of the audit log. */
export type AuditVerification = z.output<typeof auditVerificationCodec>

/** The fault of an entry, or of a position where an entry is missing. */
const auditFault = z.enum([
  /** The contents of the entry do not match its hash. */
  'changed',
  /** The entry cannot be read. */
  'unreadable',
  /**
   * The entry matches its own hash, but not the hash in the next entry or in the head of the chain.
   */
  'replaced',
  /** The entry does not belong to the chain. */
  'inserted',
  /** The entry is absent, but later entries exist. */
  'missing',
  /** The entry and all later entries are absent, but the head refers to one of them. */
  'tail_cut',
  /** The chain has no head: the record that refers to its newest entry is absent. */
  'head_missing',
])
/** The fault of an entry of the audit log. */
export type AuditFault = z.output<typeof auditFault>

/** The codec of `AuditVerification`. */
export const auditVerificationCodec = record({
  valid: z.boolean(),
  /** The number of valid entries: all entries, or the entries before the first fault. */
  entries: count,
  firstBroken: z.strictObject({ id: z.string(), sequence: z.int(), reason: auditFault }).nullable(),
})

/** The kind of resource of an event, and the fields of its `before` and `after`. */
export interface AuditEventRow {
  /** The part of `stream_id` before the colon. */
  readonly stream: string
  readonly fields: z.ZodType
  /** The chain of the organization in which the event is stored; `changes` by default. */
  readonly log?: AuditLog
}

/**
 * The name of a chain. Log-ins have a separate chain, so that many log-ins do not delay changes.
 */
export type AuditLog = 'changes' | 'logins'

const loginFields = {
  /** The submitted e-mail address; empty if the submitted text is not an e-mail address. */
  email: z.union([z.email().max(254), z.literal('')]),
  method: z.enum(['password', 'oidc']),
}
const loginCodec = record(loginFields)
const refusedLoginCodec = record({ ...loginFields, reason: text(256) })
const limitedLoginsCodec = record({ attempts: count, since: timestamp })
const changedPasswordCodec = record({
  email: loginFields.email,
  by: z.enum(['password', 'link', 'operator']),
})

const forgottenContextsCodec = record({
  /** SHA-256, in hexadecimal, of the environment's id, a colon and the key. */
  keyHash: z.string(),
  /** The number of deleted records. */
  contexts: count,
})

/** All audit events. The log accepts no other events. */
export const auditEvents = {
  'organization.created': { stream: 'organization', fields: organizationCodec },
  'organization.updated': { stream: 'organization', fields: organizationCodec },
  'organization.deleted': { stream: 'organization', fields: organizationCodec },
  /** The customer id or the billing address changed. */
  'organization.billing_updated': { stream: 'organization', fields: billingCodec },
  'organization.plan_changed': { stream: 'organization', fields: organizationCodec },
  'plan.created': { stream: 'plan', fields: planCodec },
  'plan.updated': { stream: 'plan', fields: planCodec },
  'plan.deleted': { stream: 'plan', fields: planCodec },
  'invoice.created': { stream: 'invoice', fields: invoiceCodec },
  /** The invoice was passed to the payment provider, which adds it to its next invoice. */
  'invoice.charged': { stream: 'invoice', fields: invoiceCodec },
  'invoice.updated': { stream: 'invoice', fields: invoiceCodec },
  'invoice.paid': { stream: 'invoice', fields: invoiceCodec },
  'project.created': { stream: 'project', fields: projectCodec },
  'project.updated': { stream: 'project', fields: projectCodec },
  'project.deleted': { stream: 'project', fields: projectCodec },
  'environment.created': { stream: 'environment', fields: environmentCodec },
  'environment.restored': { stream: 'environment', fields: restoredVersionCodec },
  'environment.updated': { stream: 'environment', fields: environmentCodec },
  'environment.deleted': { stream: 'environment', fields: environmentCodec },
  'sdk_key.created': { stream: 'sdk_key', fields: sdkKeyCodec },
  'sdk_key.revoked': { stream: 'sdk_key', fields: sdkKeyCodec },
  /** The stream is the key that was rotated. */
  'sdk_key.rotated': { stream: 'sdk_key', fields: rotatedSdkKeyCodec },
  'token.created': { stream: 'token', fields: accessTokenCodec },
  'token.deleted': { stream: 'token', fields: accessTokenCodec },
  'member.added': { stream: 'member', fields: memberCodec },
  /** The user has used the one-time link. */
  'member.accepted': { stream: 'member', fields: memberCodec, log: 'logins' },
  /** A new one-time link was created for the member. */
  'member.invited': { stream: 'member', fields: memberCodec },
  'member.updated': { stream: 'member', fields: memberCodec },
  'member.removed': { stream: 'member', fields: memberCodec },
  'flag.created': { stream: 'flag', fields: flagViewCodec },
  'flag.updated': { stream: 'flag', fields: flagCodec },
  'flag.deleted': { stream: 'flag', fields: flagCodec },
  'flag.configured': { stream: 'flag', fields: configuredFlagCodec },
  'flag.promoted': { stream: 'flag', fields: promotedFlagCodec },
  'flag_state.updated': { stream: 'flag_state', fields: flagStateCodec },
  'variation.created': { stream: 'variation', fields: variationCodec },
  'variation.updated': { stream: 'variation', fields: variationCodec },
  'variation.deleted': { stream: 'variation', fields: variationCodec },
  /** The stream is the flag of the variations. */
  'variation.reordered': { stream: 'flag', fields: reorderCodec },
  'targeting_rule.created': { stream: 'targeting_rule', fields: targetingRuleCodec },
  'targeting_rule.updated': { stream: 'targeting_rule', fields: targetingRuleCodec },
  'targeting_rule.deleted': { stream: 'targeting_rule', fields: targetingRuleCodec },
  /** The stream is the flag state of the rules. */
  'targeting_rule.reordered': { stream: 'flag_state', fields: reorderCodec },
  'scheduled_change.created': { stream: 'scheduled_change', fields: scheduledChangeCodec },
  'scheduled_change.deleted': { stream: 'scheduled_change', fields: scheduledChangeCodec },
  'scheduled_change.failed': { stream: 'scheduled_change', fields: scheduledChangeCodec },
  'segment.created': { stream: 'segment', fields: segmentCodec },
  /** Contains only the number of listed keys; the published versions contain the keys. */
  'segment.updated': { stream: 'segment', fields: segmentCodec },
  'segment.deleted': { stream: 'segment', fields: segmentCodec },
  'rollout.created': { stream: 'rollout', fields: rolloutCodec },
  'rollout.updated': { stream: 'rollout', fields: rolloutCodec },
  'rollout.deleted': { stream: 'rollout', fields: rolloutCodec },
  /**
   * The stream is the environment. The stream id of a context would contain its key, which must not
   * stay readable after the deletion.
   */
  'observed_context.forgotten': { stream: 'environment', fields: forgottenContextsCodec },
  'webhook.created': { stream: 'webhook', fields: webhookCodec },
  'webhook.updated': { stream: 'webhook', fields: webhookCodec },
  'webhook.deleted': { stream: 'webhook', fields: webhookCodec },
  'user.login_success': { stream: 'user', fields: loginCodec, log: 'logins' },
  'user.login_failed': { stream: 'user', fields: refusedLoginCodec, log: 'logins' },
  /**
   * The number of log-ins that were refused since a time, if there are too many for single events.
   */
  'user.login_limited': { stream: 'user', fields: limitedLoginsCodec, log: 'logins' },
  'user.password_changed': { stream: 'user', fields: changedPasswordCodec, log: 'logins' },
} as const satisfies Record<string, AuditEventRow>

/** The name of an audit event. */
export type AuditEventType = keyof typeof auditEvents

/** The type of `before` and `after` in the payload of an event of this type. */
export type AuditedFields<T extends AuditEventType> = z.output<(typeof auditEvents)[T]['fields']>

const reference = text(256).min(1)
const lowerCaseReference = reference.toLowerCase()

/** The filters of the log. An entry matches if it matches every filter that is present. */
const filters = {
  eventType: reference.optional(),
  actorId: reference.optional(),
  orgId: lowerCaseReference.optional(),
  projectId: lowerCaseReference.optional(),
  /** Matches entries created at this time or later. */
  fromDate: instant.optional(),
  /** Matches entries created at this time or earlier. */
  toDate: instant.optional(),
}

/** The sort orders by their wire names, `field:direction`. */
const SORTS = {
  'created_at:asc': { field: 'createdAt', direction: 'asc' },
  'created_at:desc': { field: 'createdAt', direction: 'desc' },
  'event_type:asc': { field: 'eventType', direction: 'asc' },
  'event_type:desc': { field: 'eventType', direction: 'desc' },
  'actor_id:asc': { field: 'actorId', direction: 'asc' },
  'actor_id:desc': { field: 'actorId', direction: 'desc' },
} as const

type SortName = keyof typeof SORTS
const sortNames = Object.keys(SORTS) as SortName[]

const auditSort = z.codec(z.enum(sortNames), z.custom<(typeof SORTS)[SortName]>(), {
  decode: (name) => SORTS[name],
  encode: (sort) => sortNames.find((name) => SORTS[name] === sort) ?? 'created_at:desc',
})

/** The endpoints of the audit log. */
export const auditLogEndpoints = {
  listAuditLog: reading('/audit/logs', {
    permission: 'audit.read',
    query: record({
      ...cursorPaging,
      ...filters,
      /** `redis` returns only recent entries; `database` and `both` return all entries. */
      source: z.enum(['redis', 'database', 'both']).optional().meta({ default: 'both' }),
      sort: auditSort.optional().meta({ default: 'created_at:desc' }),
    }),
    response: pageOf(auditEventCodec),
  }),
  verifyAuditLog: reading('/audit/verify', {
    permission: 'audit.read',
    query: record({ orgId: filters.orgId }),
    response: auditVerificationCodec,
  }),
  exportAuditLog: reading('/audit/export', {
    permission: 'audit.read',
    query: record(filters),
    lines: true,
    response: auditEventCodec,
  }),
}
