export type { Capabilities } from './capabilities.ts'
export type {
  ChangeFeed,
  ChangeListener,
  FlagSetChange,
  Resync,
  Unsubscribe,
} from './change-feed.ts'
export { memory } from './memory/memory.ts'
export type { RateLimiter, RateWindow } from './rate-limiter.ts'
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
} from './records.ts'
export type {
  ChangedDefinition,
  Changes,
  ContextSighting,
  DefinitionChange,
  DefinitionChanges,
  EvaluationCount,
  EvaluationCountQuery,
  EvaluationOutcome,
  EvaluationSource,
  EvaluationTotal,
  ListQuery,
  Page,
  PublicationOccasion,
  PublishedSegment,
  PublishedVersion,
  PurgeQuery,
  SegmentKeysChange,
  Storage,
  StorageSession,
  VersionPage,
} from './storage.ts'
export { createStorage, type StorageCore } from './storage-core.ts'
export {
  type FlagParts,
  toFlagDefinition,
  toPublishedSegment,
  toRolloutDefinition,
} from './to-definitions.ts'
