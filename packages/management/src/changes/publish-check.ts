import { FlagError } from '@ff/core'
import { type DefinitionChange, PublishedDefinitions } from '@ff/core/authoring'
import { extensions } from '@ff/server/plane'
import type { StorageSession } from '@ff/storage'

/** What a change of an environment must keep to. */
export const PUBLISH_RULES = { extensions, maxConditionValueBytes: 16 * 1024 * 1024 }

/** The most cached environments; each holds all its definitions in memory. */
const MAX_ENVIRONMENTS = 32

/**
 * Caches the published definitions of the environments that were changed last, so that checking a
 * change costs in proportion to the change, not to the environment. Evaluation does not use this.
 */
export class PublishCheck {
  /** In order of use, the last used one at the end. */
  readonly #environments = new Map<string, PublishedDefinitions>()

  /**
   * Returns the published definitions of an environment: the cached ones, with the changes since.
   * The caller's transaction must hold the lock of the environment's organization and must not have
   * published to the environment yet, because a rollback does not undo the cache.
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
      // A store that was restored to an earlier state does not list the versions it has lost.
      if (changes.version >= known.version) return known.advance(changes)
    }
    const nothing = { version: 0, flags: [], segments: [] }
    const present = (await session.loadFlagSet(environmentId)) ?? nothing
    return new PublishedDefinitions(present, PUBLISH_RULES)
  }
}

/**
 * Throws `INVALID_DEFINITION` if these changes would make a definition invalid. The work may be
 * interrupted at each `yield`.
 */
export function* assertPublishable(
  definitions: PublishedDefinitions,
  changes: readonly DefinitionChange[],
): Generator<undefined, void> {
  const faults = yield* definitions.checkChange(changes)
  if (faults.length > 0) throw new FlagError('INVALID_DEFINITION', faults.join(' '))
}
