import { FlagError } from '@ff/core'
import { type DefinitionChange, PublishedDefinitions } from '@ff/core/authoring'
import { extensions } from '@ff/server/plane'
import type { StorageSession } from '@ff/storage'

/** The rules that every published change must obey. */
export const PUBLISH_RULES = { extensions, maxConditionValueBytes: 16 * 1024 * 1024 }

/** The maximum number of cached environments. The cache contains all definitions of each. */
const MAX_ENVIRONMENTS = 32

/**
 * Caches the published definitions of the most recently changed environments, so that the cost of
 * checking a change depends on the size of the change, not of the environment. Evaluation does not
 * use this cache.
 */
export class PublishCheck {
  /** Definitions by environment, the most recently used one last. */
  readonly #environments = new Map<string, PublishedDefinitions>()

  /**
   * Returns the published definitions of an environment: the cached ones, updated with later
   * changes. The caller's transaction must have the lock of the environment's organization, and
   * must not have published to the environment yet, because a rollback does not undo changes of the
   * cache.
   */
  async load(session: StorageSession, environmentId: string): Promise<PublishedDefinitions> {
    const definitions = await this.#bringUpToDate(session, environmentId)
    this.#environments.delete(environmentId)
    this.#environments.set(environmentId, definitions)
    for (const oldest of this.#environments.keys()) {
      if (this.#environments.size <= MAX_ENVIRONMENTS) break
      this.#environments.delete(oldest)
    }
    return definitions
  }

  async #bringUpToDate(
    session: StorageSession,
    environmentId: string,
  ): Promise<PublishedDefinitions> {
    const known = this.#environments.get(environmentId)
    if (known !== undefined) {
      const changes = await session.loadChanges(environmentId, known.version)
      // After a restore from a backup, the cached version can be newer than the stored one.
      if (changes.version >= known.version) return known.advance(changes)
    }
    const nothing = { version: 0, flags: [], segments: [] }
    const present = (await session.loadFlagSet(environmentId)) ?? nothing
    return new PublishedDefinitions(present, PUBLISH_RULES)
  }
}

/** The maximum number of faults that a message describes. */
const MAX_NAMED_FAULTS = 10

/**
 * Throws `INVALID_DEFINITION` if `changes` would make a definition invalid. The caller can pause
 * the work at each `yield`.
 */
export function* assertPublishable(
  definitions: PublishedDefinitions,
  changes: readonly DefinitionChange[],
): Generator<undefined, void> {
  const faults = yield* definitions.checkChange(changes)
  if (faults.length === 0) return
  const left = faults.length - MAX_NAMED_FAULTS
  const more = left > 0 ? [`There are ${left} more faults.`] : []
  const message = [...faults.slice(0, MAX_NAMED_FAULTS), ...more].join(' ')
  throw new FlagError('INVALID_DEFINITION', message)
}
