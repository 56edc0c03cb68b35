import { FlagError, type FlagSetDefinition } from '@ff/core'
import { type DefinitionChange, PublishedDefinitions } from '@ff/core/authoring'
import { extensions, runInTimeSlices } from '@ff/server/plane'
import type { StorageSession } from '@ff/storage'
import { keepNewest } from './keep-newest.ts'

/** The rules that every published change must obey. */
export const PUBLISH_RULES = { extensions, maxConditionValueBytes: 16 * 1024 * 1024 }

/** The maximum number of cached environments. The cache contains all definitions of each. */
const MAX_ENVIRONMENTS = 32

/** The published definitions of an environment, as far as the check of a change needs them. */
export type CheckedDefinitions = Pick<
  PublishedDefinitions,
  'version' | 'affectsClients' | 'checkChange'
>

/** Loads the published definitions with which changes are checked. */
export interface PublishChecks {
  /** Returns the published definitions of an environment. */
  load(session: ReadableLog, environmentId: string): Promise<CheckedDefinitions>
}

type ReadableLog = Pick<StorageSession, 'loadFlagSet' | 'loadChanges'>

/**
 * Caches the published definitions of the most recently changed environments, so that the cost of
 * checking a change depends on the size of the change, not of the environment. Evaluation does not
 * use this cache.
 */
export class PublishCheck implements PublishChecks {
  /** Definitions by environment, the most recently used one last. */
  readonly #environments = new Map<string, PublishedDefinitions>()

  /**
   * Returns the published definitions of an environment: the cached ones, updated with later
   * changes. The caller reads committed data, or its transaction has the lock of the environment's
   * organization and has not published to the environment yet, because a rollback does not undo
   * changes of the cache.
   */
  async load(session: ReadableLog, environmentId: string): Promise<PublishedDefinitions> {
    const definitions = await this.#bringUpToDate(session, environmentId)
    keepNewest(this.#environments, [environmentId, definitions], MAX_ENVIRONMENTS)
    return definitions
  }

  async #bringUpToDate(session: ReadableLog, environmentId: string): Promise<PublishedDefinitions> {
    const known = this.#environments.get(environmentId)
    if (known !== undefined) {
      const changes = await session.loadChanges(environmentId, known.version)
      // After a restore from a backup, the cached version can be newer than the stored one.
      if (changes.version >= known.version) return known.advance(changes)
    }
    const nothing = { version: 0, flags: [], segments: [] }
    const present = (await session.loadFlagSet(environmentId)) ?? nothing
    return runInTimeSlices(publishedDefinitions(present))
  }
}

/** The number of definitions that are added without interruption. */
const DEFINITIONS_PER_STEP = 16

/** Creates published definitions. The caller can pause the work at each `yield`. */
function* publishedDefinitions({
  version,
  flags,
  segments,
}: FlagSetDefinition): Generator<undefined, PublishedDefinitions> {
  const definitions = new PublishedDefinitions({ version, flags: [], segments: [] }, PUBLISH_RULES)
  const named = <T extends { readonly id: string }>(definition: T) => {
    return { id: definition.id, definition }
  }
  for (let at = 0; at < Math.max(flags.length, segments.length); at += DEFINITIONS_PER_STEP) {
    definitions.advance({
      version,
      flags: flags.slice(at, at + DEFINITIONS_PER_STEP).map(named),
      segments: segments.slice(at, at + DEFINITIONS_PER_STEP).map(named),
    })
    yield
  }
  return definitions
}

/** The maximum number of faults that a message describes. */
const MAX_NAMED_FAULTS = 10

/**
 * Throws `INVALID_DEFINITION` if `changes` would make a definition invalid. The caller can pause
 * the work at each `yield`.
 */
export function* assertPublishable(
  definitions: Pick<PublishedDefinitions, 'checkChange'>,
  changes: readonly DefinitionChange[],
): Generator<undefined, void> {
  const faults = yield* definitions.checkChange(changes)
  if (faults.length === 0) return
  const left = faults.length - MAX_NAMED_FAULTS
  const more = left > 0 ? [`There are ${left} more faults.`] : []
  const message = [...faults.slice(0, MAX_NAMED_FAULTS), ...more].join(' ')
  throw new FlagError('INVALID_DEFINITION', message)
}
