import type { FlagDefinition } from '@ff/core'
import type { DefinitionDelta, KeyChanges, SegmentProperties } from '@ff/core/changes'

/**
 * The new state of a definition (`null` if the definition is removed), or a change of listed keys.
 */
export type DefinitionChange =
  | { readonly kind: 'flag'; readonly id: string; readonly definition: FlagDefinition | null }
  | { readonly kind: 'segment'; readonly id: string; readonly definition: PublishedSegment | null }
  | ({ readonly kind: 'segmentKeys' } & SegmentKeysChange)

/** The time and the cause of a publication. */
export interface PublishMetadata {
  readonly publishedAt: string
  /** The id of the audit event of the change; `null` if there is none. */
  readonly eventId: string | null
  /**
   * `true` if responses to SDK keys of kind `client` can differ from those of the previous version.
   * If `false`, the client version of the environment does not change. Default: `true`.
   */
  readonly affectsClients?: boolean
}

/** The versions that a server compares with those that it has loaded. */
export interface NewestVersions {
  /** The newest versions of the environments by id. */
  readonly environments: ReadonlyMap<string, NewestVersion>
  /**
   * The version of all SDK keys, an integer. Each call that inserts, updates, revives or purges keys
   * increases it, in the same transaction, unless the call sets only `lastUsedAt` or has no effect.
   */
  readonly sdkKeys: number
}

/** The state of an environment in the store. */
export interface NewestVersion {
  /** The newest published version; 0 if nothing has been published. */
  readonly version: number
  /** The revision of the environment's record, which changes with its settings. */
  readonly revision: number
}

/** Selects a page of versions. */
export interface VersionPage {
  /** The page number, starting at 1. */
  readonly page: number
  /** The number of versions per page, at least 1. */
  readonly limit: number
  /** If present, only versions before this one are on the pages. `total` counts all versions. */
  readonly before?: number | undefined
}

/** One version of an environment and its changes. Each list is ordered by id. */
export interface PublishedVersion extends Omit<PublishMetadata, 'affectsClients'> {
  readonly version: number
  /** The changed flags. */
  readonly flags: readonly ChangedDefinition[]
  /** The changed segments, including segments with changed listed keys only. */
  readonly segments: readonly ChangedDefinition[]
}

/** Selects publications of a flag in an environment. */
export interface FlagHistoryQuery {
  readonly environmentId: string
  readonly flagId: string
  readonly since: number
}

/** The definition of a flag from a version on, until a later version changes it. */
export interface FlagPublication {
  readonly version: number
  /** `null` if the version removes the flag. */
  readonly definition: FlagDefinition | null
}

/** A flag or segment that a version changed. */
export interface ChangedDefinition {
  readonly id: string
  /** The last published key; `null` for listed keys of a segment that has never been published. */
  readonly key: string | null
}

/** A segment definition without its listed keys, which are published as differences. */
export type PublishedSegment = SegmentProperties

/**
 * Keys that are added to and removed from a list of a segment. A key that is in both `added` and
 * `removed` is in the list afterwards. Lists are stored by segment id, even if no definition of the
 * segment is published. Such lists appear in no flag set.
 */
export interface SegmentKeysChange extends KeyChanges {
  readonly segmentId: string
  readonly list: 'included' | 'excluded'
}

/**
 * The flags and segments that changed after a version: the input of `mergeChanges` of
 * `@ff/core/changes`. The version is 0 if nothing has been published.
 */
export type DefinitionChanges = DefinitionDelta
