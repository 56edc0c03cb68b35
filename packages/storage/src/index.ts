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
  type Hashed,
  type IdempotencyRecord,
  KIND_RULES,
  type Kind,
  type KindRules,
  type Positioned,
  type Records,
  type Undoable,
} from './records.ts'
export type {
  ChangedDefinition,
  Changes,
  DefinitionChange,
  DefinitionChanges,
  ListQuery,
  Page,
  PublicationOccasion,
  PublishedSegment,
  PublishedVersion,
  SegmentKeysChange,
  Storage,
  StorageSession,
  VersionPage,
} from './storage.ts'
export {
  type FlagParts,
  toFlagDefinition,
  toPublishedSegment,
  toRolloutDefinition,
} from './to-definitions.ts'
