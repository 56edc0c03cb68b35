import type { BucketRange, JsonValue } from '@ff/core'
import type {
  AccessToken,
  AuditEvent,
  Environment,
  Flag,
  FlagState,
  Invoice,
  Member,
  ObservedContext,
  Organization,
  Plan,
  Project,
  Rollout,
  ScheduledChange,
  SdkKey,
  Segment,
  TargetingRule,
  User,
  Variation,
  Webhook,
  WebhookDelivery,
} from '@ff/protocol/management'
import type { Summarized } from './flag-summary.ts'

/** The stored form of a secret that is shown only once. */
export interface Hashed {
  /** The SHA-256 hash of the secret, in hexadecimal. */
  readonly hash: string
}

/** The stored form of a secret that the server must be able to read. */
export interface Sealed {
  /** The encrypted secret. The encryption key is not in the store. */
  readonly sealedSecret: string
}

/** The state of a rollout before its last change. */
export interface Undoable {
  /** The bucket ranges before the last change; `null` if the ranges have never changed. */
  readonly previousRanges: readonly BucketRange[] | null
}

/** The position of an audit entry in chronological lists. */
export interface Positioned {
  /**
   * A timestamp, followed by the sequence number. The position increases along each chain, even if
   * the clock is set back.
   */
  readonly position: string
}

/** The billing period of an organization and its customer at the payment provider. */
export interface Billed {
  /** The start of the current billing period; `null` if there is none. */
  readonly periodStart: string | null
  /**
   * The day of the month on which billing periods end. In a shorter month, the period ends on the
   * last day. `null` if there is no billing period.
   */
  readonly periodDay: number | null
  /** The customer's id at the payment provider; `null` if the customer does not exist there yet. */
  readonly paymentCustomerId: string | null
}

/** The newest event from the payment provider about one object, such as a subscription. */
export interface LastPaymentEvent {
  /** The provider's id of the object. */
  readonly id: string
  /** The provider's id of the customer to which the object belongs. */
  readonly customerId: string
  /** The provider's id of the event. */
  readonly eventId: string
  readonly occurredAt: string
  /** The state of the object after the event. */
  readonly subject: JsonValue
  /** The id of the last event that was applied to the organization; `null` if there is none. */
  readonly settledEventId: string | null
  readonly receivedAt: string
}

/** The fields by which an observed context can be found. */
export interface Findable {
  /** The context kind, such as `user` or `multi`; an empty string for an empty context. */
  readonly kind: string
  /**
   * The context key; for a multi-context, the key of its user context. An empty string if there is
   * no such key.
   */
  readonly key: string
}

/** The rules by which an observed context was reduced before it was stored. */
export interface Reduced {
  /**
   * The version of the flag set that decided which attributes were kept. `null` if all attributes
   * were kept, 0 if the version is unknown.
   */
  readonly reducedBy: number | null
  /** The revision of the environment with the list of attributes that were kept in addition. */
  readonly settingsRevision: number
}

/** The origin of the attributes that observed contexts of an environment keep in addition. */
export interface KeptSince {
  /** The revision of the environment that added each of `keptAttributes`, in the same order. */
  readonly keptSince: readonly number[]
}

/** The credentials of a user. No endpoint returns these fields. */
export interface Credentials {
  /** The output of the password hasher; `null` until a password is set. */
  readonly passwordHash: string | null
  /** `platform` for administrators of the installation; `null` for all other users. */
  readonly role: 'platform' | null
}

/**
 * The acceptance of a membership by the user, and the one-time link for accepting the membership.
 */
export interface Acceptable {
  /** The time at which the one-time link was used; `null` if no link has been used. */
  readonly acceptedAt: string | null
  /** The SHA-256 hash of the valid one-time link, in hexadecimal; `null` if there is none. */
  readonly linkHash: string | null
  readonly linkExpiresAt: string | null
}

/** The common fields of records that are not resources of the management API. */
interface StoredRecord {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly deletedAt: string | null
  readonly revision: number
}

/** The identity of a user at an identity provider. */
export interface LinkedIdentity extends StoredRecord {
  readonly userId: string
  readonly issuer: string
  readonly subject: string
}

/** A log-in session. The store contains only the hash of the browser's secret. */
export interface LoginSession extends StoredRecord, Hashed {
  readonly userId: string
  readonly method: 'password' | 'oidc'
  readonly expiresAt: string
  readonly lastUsedAt: string
}

/** A reference to the newest entry of an audit chain, stored separately from the entries. */
export interface AuditHead extends Positioned {
  /** The name of the chain. */
  readonly id: string
  /** The number of entries in the chain. */
  readonly sequence: number
  /** The hash of the newest entry. */
  readonly hash: string
}

/** The stored response to a request, which is returned if the request is sent again. */
export interface IdempotencyRecord extends StoredRecord {
  /** The identity of the request: a hash of its actor, operation, parameters and key. */
  readonly scope: string
  /** The hash of the request body. */
  readonly bodyHash: string
  /** The response without its secret. */
  readonly result: JsonValue
  /** The expiry time. From then on, the same request is treated as a new request. */
  readonly expiresAt: string
}

/**
 * The approximate number of distinct users that one instance observed in one hour, as a HyperLogLog
 * sketch. The users themselves are not stored.
 *
 * The users of a sketch without `flagId` are users of each flag that keys of the kind `keyKind` have
 * received in all versions from `firstVersion` to `lastVersion`. Sketches of earlier releases have
 * `null` in these three fields. Their users are users of all flags.
 */
export interface UserSketch {
  readonly id: string
  readonly environmentId: string
  /** The id of the evaluated flag; `null` for evaluations of all flags. */
  readonly flagId: string | null
  readonly keyKind: 'client' | 'server' | null
  readonly firstVersion: number | null
  readonly lastVersion: number | null
  /** The timestamp of the start of the hour. */
  readonly hour: string
  readonly instanceId: string
  /** The registers of a HyperLogLog sketch, encoded as text. */
  readonly registers: string
}

/** The type of each kind of record. To add a kind of record, add it to this interface first. */
export interface Records {
  organization: Organization & Billed
  plan: Plan
  invoice: Invoice
  paymentEvent: LastPaymentEvent
  project: Project
  environment: Environment & KeptSince
  flag: Flag & Summarized
  flagState: FlagState
  variation: Variation
  targetingRule: TargetingRule
  segment: Segment
  rollout: Rollout & Undoable
  scheduledChange: ScheduledChange
  sdkKey: SdkKey & Hashed
  accessToken: AccessToken & Hashed
  user: User & Credentials
  member: Member & Acceptable
  identity: LinkedIdentity
  loginSession: LoginSession
  auditEvent: AuditEvent & Positioned
  auditHead: AuditHead
  idempotencyRecord: IdempotencyRecord
  webhook: Webhook & Sealed
  webhookDelivery: WebhookDelivery
  observedContext: Omit<ObservedContext, 'inexactAttributes' | 'variationResults'> &
    Findable &
    Reduced
  userSketch: UserSketch
}

/** The name of a kind of record. */
export type Kind = keyof Records

/**
 * The uniqueness and search rules of a kind of record. Records that are not deleted are called
 * living.
 */
export interface KindRules<K extends Kind> {
  /** Combinations of fields that must be unique among the living records of the kind. */
  readonly unique: readonly (readonly (keyof Records[K] & string)[])[]
  /** The fields in which `ListQuery.search` searches. */
  readonly searchable: readonly (keyof Records[K] & string)[]
}

/** The rules of every kind. */
export const KIND_RULES: { readonly [K in Kind]: KindRules<K> } = {
  organization: { unique: [], searchable: ['name'] },
  plan: { unique: [], searchable: [] },
  invoice: { unique: [], searchable: [] },
  paymentEvent: { unique: [], searchable: [] },
  project: { unique: [['orgId', 'key']], searchable: ['key', 'name'] },
  environment: { unique: [['projectId', 'key']], searchable: ['key', 'name'] },
  flag: { unique: [['projectId', 'key']], searchable: ['key', 'name', 'description'] },
  flagState: { unique: [['flagId', 'environmentId']], searchable: [] },
  variation: { unique: [['flagId', 'key']], searchable: ['key', 'name'] },
  targetingRule: { unique: [], searchable: ['name'] },
  segment: { unique: [['projectId', 'key']], searchable: ['key', 'name'] },
  rollout: { unique: [], searchable: ['name'] },
  scheduledChange: { unique: [], searchable: [] },
  sdkKey: { unique: [['hash']], searchable: ['name'] },
  accessToken: { unique: [['hash']], searchable: ['name'] },
  user: { unique: [['email']], searchable: [] },
  member: { unique: [['orgId', 'userId']], searchable: ['email', 'name'] },
  identity: { unique: [['issuer', 'subject']], searchable: [] },
  loginSession: { unique: [['hash']], searchable: [] },
  auditEvent: { unique: [], searchable: [] },
  auditHead: { unique: [], searchable: [] },
  idempotencyRecord: { unique: [['scope']], searchable: [] },
  webhook: { unique: [], searchable: [] },
  webhookDelivery: { unique: [], searchable: [] },
  observedContext: { unique: [['environmentId', 'hash']], searchable: [] },
  userSketch: { unique: [], searchable: [] },
}
