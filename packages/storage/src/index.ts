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
export { type Hashed, KIND_RULES, type Kind, type KindRules, type Records } from './records.ts'
export type {
  Changes,
  DefinitionChange,
  DefinitionChanges,
  ListQuery,
  Page,
  PublishedSegment,
  SegmentKeysChange,
  Storage,
  StorageSession,
} from './storage.ts'
export { type FlagParts, toFlagDefinition, toPublishedSegment } from './to-definitions.ts'
