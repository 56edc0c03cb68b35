import type {
  AccessToken,
  AuditEvent,
  Environment,
  Flag,
  FlagState,
  Organization,
  Project,
  Rollout,
  SdkKey,
  Segment,
  TargetingRule,
  Variation,
} from '@ff/protocol/management'

/** What is kept of a secret that was shown once: its SHA-256, in hexadecimal. */
export interface Hashed {
  readonly hash: string
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
  rollout: Rollout
  sdkKey: SdkKey & Hashed
  accessToken: AccessToken & Hashed
  auditEvent: AuditEvent
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
  auditEvent: { unique: [], searchable: [] },
}
