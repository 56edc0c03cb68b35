export { memory } from './memory/memory.ts'
export type { Capabilities } from './ports/capabilities.ts'
export type * from './ports/change-feed.ts'
export type * from './ports/rate-limiter.ts'
export {
  type AuditHead,
  type Findable,
  type Hashed,
  type IdempotencyRecord,
  KIND_RULES,
  type Kind,
  type KindRules,
  type LastPaymentEvent,
  type LoginSession,
  type Positioned,
  type Records,
  type Undoable,
} from './ports/records.ts'
export type * from './ports/storage.ts'
export { createStorage, type StorageCore } from './ports/storage-core.ts'
export {
  type FlagRecords,
  toFlagDefinition,
  toPublishedSegment,
  toRolloutDefinition,
} from './publication-log/to-definitions.ts'
