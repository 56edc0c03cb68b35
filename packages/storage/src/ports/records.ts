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

/** The stored form of a secret that was shown once: its SHA-256, in hexadecimal. */
export interface Hashed {
  readonly hash: string
}

/** The stored form of a secret that must be read back: encrypted with a key that is kept elsewhere. */
export interface Sealed {
  readonly sealedSecret: string
}

/** What a rollout's last change replaced; `null` when its ranges have never changed. */
export interface Undoable {
  readonly previousRanges: readonly BucketRange[] | null
}

/** Where an audit entry stands in lists that go by time. */
export interface Positioned {
  /** Grows along each chain, even where the clock was set back: a time and the sequence number. */
  readonly position: string
}

/** The present period of an organization, `null` while it has none, and the customer that pays. */
export interface Billed {
  readonly periodStart: string | null
  /** The day of the month on which its periods end, in months that have it, else on their last. */
  readonly periodDay: number | null
  /** The payment provider's name for the organization; `null` until it is known there. */
  readonly paymentCustomerId: string | null
}

/** The newest event that the payment provider sent about one of its objects. */
export interface LastPaymentEvent {
  /** The provider's name for the object. */
  readonly id: string
  /** The provider's name for the customer it belongs to. */
  readonly customerId: string
  /** The provider's name for the event. */
  readonly eventId: string
  readonly occurredAt: string
  /** The state of the object after the event. */
  readonly subject: JsonValue
  /** The event that the customer's organization was last brought in step with; `null`: none. */
  readonly settledEventId: string | null
  readonly receivedAt: string
}

/** The fields by which an observed context is found. */
export interface Findable {
  /** `user`, `multi`, … ; empty for the empty context. */
  readonly kind: string
  /** The key of the context; of a multi-context, the user's; empty if there is none. */
  readonly key: string
}

/** The credentials of a user; no endpoint returns them. */
export interface Credentials {
  /** As the password hasher writes it; null until a password is set. */
  readonly passwordHash: string | null
  /** `platform` for the administrators of the installation. */
  readonly role: 'platform' | null
}

/** Whether the user has accepted a membership, and the one-time link for that. */
export interface Acceptable {
  /** null until the one-time link was used. */
  readonly acceptedAt: string | null
  /** The SHA-256, in hexadecimal, of the one-time link that is valid. */
  readonly linkHash: string | null
  readonly linkExpiresAt: string | null
}

/** The fields of records that have no resource. */
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

/** A log-in session; of the browser's secret only the hash is stored. */
export interface LoginSession extends StoredRecord, Hashed {
  readonly userId: string
  readonly method: 'password' | 'oidc'
  readonly expiresAt: string
  readonly lastUsedAt: string
}

/** The newest entry of one chain of the audit log, kept apart from the entries themselves. */
export interface AuditHead extends Positioned {
  /** The chain's name. */
  readonly id: string
  /** How many entries the chain has. */
  readonly sequence: number
  /** The hash of the newest one. */
  readonly hash: string
}

/** The answer to a request that may be sent again, so that it is done only once. */
export interface IdempotencyRecord extends StoredRecord {
  /** Identifies the request: a hash of its sender, its address and its key. */
  readonly scope: string
  /** A hash of the body. */
  readonly bodyHash: string
  /** The answer, without its secret. */
  readonly result: JsonValue
  /** From then on the request is a new one, and this record may be used for another. */
  readonly expiresAt: string
}

/** The users that one instance has seen in one hour: enough to count them, not to name them. */
export interface UserSketch {
  readonly id: string
  readonly environmentId: string
  /** null: users for which all flags were evaluated together. */
  readonly flagId: string | null
  /** The timestamp at which the hour begins. */
  readonly hour: string
  readonly instanceId: string
  /** The text of a HyperLogLog sketch. */
  readonly registers: string
}

/** Every kind of record a store keeps. Adding a resource begins here. */
export interface Records {
  organization: Organization & Billed
  plan: Plan
  invoice: Invoice
  paymentEvent: LastPaymentEvent
  project: Project
  environment: Environment
  flag: Flag
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
  observedContext: ObservedContext & Findable
  userSketch: UserSketch
}

/** The name of a kind of record. */
export type Kind = keyof Records

/** A living record's fields that no other living record of its kind may share, in combination. */
export interface KindRules<K extends Kind> {
  readonly unique: readonly (readonly (keyof Records[K] & string)[])[]
  /** Columns that `ListQuery.search` looks through. */
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
