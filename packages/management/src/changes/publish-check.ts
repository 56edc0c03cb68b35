import type { StorageSession } from '@ff/storage'
import { PublishedParts } from './published-parts.ts'

/** As many as are likely to be worked on at a time; each holds all its definitions. */
const MOST_ENVIRONMENTS = 32

/**
 * What is published in the environments that were changed last, so that a change is judged by
 * what it touches, however much there is beside it. Evaluation knows nothing of this.
 */
export class Soundness {
  /** The one used last comes last. */
  readonly #environments = new Map<string, PublishedParts>()

  /**
   * What is published now: what was known, and the changes since. To be called in a transaction
   * that holds the lock of the environment's organization and has published nothing there yet:
   * what is undone must not be remembered.
   */
  async load(session: StorageSession, environmentId: string): Promise<PublishedParts> {
    const parts = await this.#bringUpToDate(session, environmentId)
    this.#environments.delete(environmentId)
    this.#environments.set(environmentId, parts)
    for (const oldest of this.#environments.keys()) {
      if (this.#environments.size <= MOST_ENVIRONMENTS) break
      this.#environments.delete(oldest)
    }
    return parts
  }

  async #bringUpToDate(session: StorageSession, environmentId: string): Promise<PublishedParts> {
    const known = this.#environments.get(environmentId)
    if (known !== undefined) {
      const changes = await session.loadChanges(environmentId, known.version)
      // A store that was put back to an earlier state says nothing of what is not there any more.
      if (changes.version >= known.version) return known.advance(changes)
    }
    const nothing = { version: 0, flags: [], segments: [] }
    return PublishedParts.of((await session.loadFlagSet(environmentId)) ?? nothing)
  }
}
