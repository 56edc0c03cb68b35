import type { BucketRange, JsonValue } from '@ff/core'
import type {
  AccessToken,
  AuditEvent,
  Environment,
  Flag,
  FlagState,
  Member,
  Organization,
  Project,
  Rollout,
  SdkKey,
  Segment,
  TargetingRule,
  User,
  Variation,
} from '@ff/protocol/management'

/** What is kept of a secret that was shown once: its SHA-256, in hexadecimal. */
export interface Hashed {
  readonly hash: string
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

/** The newest entry of one chain of the audit log, kept apart from the entries themselves. */
export interface AuditHead extends Positioned {
  /** The chain's name. */
  readonly id: string
  /** How many entries the chain has. */
  readonly sequence: number
  /** The hash of the newest one. */
  readonly hash: string
}

/** What was answered to a request that may be sent again, so that it is done only once. */
export interface IdempotencyRecord {
  readonly id: string
  /** Names the request: a hash of who sent it, where to, and under which key. */
  readonly scope: string
  /** A hash of what was sent. */
  readonly bodyHash: string
  /** What was answered, without its secret. */
  readonly result: JsonValue
  /** From then on the request is a new one, and this record may be used for another. */
  readonly expiresAt: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly deletedAt: string | null
  readonly revision: number
}

/** Every kind of record a store keeps. Adding a resource begins here. */
export interface Records {
  organization: Organization
  project: Project
  environment: Environment
  flag: Flag
  flagState: FlagState
  variation: Variation
  targetingRule: TargetingRule
  segment: Segment
  rollout: Rollout & Undoable
  sdkKey: SdkKey & Hashed
  accessToken: AccessToken & Hashed
  user: User
  member: Member
  auditEvent: AuditEvent & Positioned
  auditHead: AuditHead
  idempotencyRecord: IdempotencyRecord
}

export type Kind = keyof Records

/** A living record's fields that no other living record of its kind may share, in combination. */
export interface KindRules<K extends Kind> {
  readonly unique: readonly (readonly (keyof Records[K] & string)[])[]
  /** Columns that `ListQuery.search` looks through. */
  readonly searchable: readonly (keyof Records[K] & string)[]
}

export const KIND_RULES: { readonly [K in Kind]: KindRules<K> } = {
  organization: { unique: [], searchable: ['name'] },
  project: { unique: [['orgId', 'key']], searchable: ['key', 'name'] },
  environment: { unique: [['projectId', 'key']], searchable: ['key', 'name'] },
  flag: { unique: [['projectId', 'key']], searchable: ['key', 'name', 'description'] },
  flagState: { unique: [['flagId', 'environmentId']], searchable: [] },
  variation: { unique: [['flagId', 'key']], searchable: ['key', 'name'] },
  targetingRule: { unique: [], searchable: ['name'] },
  segment: { unique: [['projectId', 'key']], searchable: ['key', 'name'] },
  rollout: { unique: [], searchable: ['name'] },
  sdkKey: { unique: [['hash']], searchable: ['name'] },
  accessToken: { unique: [['hash']], searchable: ['name'] },
  user: { unique: [['email']], searchable: [] },
  member: { unique: [['orgId', 'userId']], searchable: ['email', 'name'] },
  auditEvent: { unique: [], searchable: [] },
  auditHead: { unique: [], searchable: [] },
  idempotencyRecord: { unique: [['scope']], searchable: [] },
}
