export { createDraft, type Draft, type DraftBase } from './draft/draft-storage.ts'
export { memory } from './memory/memory.ts'
export type { Capabilities, Ports } from './ports/capabilities.ts'
export type * from './ports/change-feed.ts'
export type { DeliveryClaim } from './ports/delivery-claim.ts'
export type {
  StoredEnvironmentSummary,
  StoredFlagSummary,
  Summarized,
  SummarizedConfiguration,
} from './ports/flag-summary.ts'
export type * from './ports/instance-reports.ts'
export { REPORT_LIFETIME_MS } from './ports/instance-reports.ts'
export type * from './ports/leases.ts'
export { activateStore, COPY_HOLDER, JOBS_LEASE } from './ports/leases.ts'
export type * from './ports/publications.ts'
export type * from './ports/rate-limiter.ts'
export { MAX_RECENT_EVENTS, type RecentEvents } from './ports/recent-events.ts'
export { isReadOnly } from './ports/record-errors.ts'
export {
  type AuditHead,
  type Findable,
  type Hashed,
  type IdempotencyRecord,
  type KeptSince,
  KIND_RULES,
  type Kind,
  type KindRules,
  type LastPaymentEvent,
  type LoginSession,
  type Positioned,
  type Records,
  type Undoable,
} from './ports/records.ts'
export type * from './ports/snapshots.ts'
export type * from './ports/storage.ts'
export { createStorage, type StorageCore } from './ports/storage-core.ts'
export type * from './ports/store-time.ts'
export type * from './ports/usage.ts'
export {
  type FlagRecords,
  toFlagDefinition,
  toPublishedSegment,
  toRolloutDefinition,
} from './publication-log/to-definitions.ts'
