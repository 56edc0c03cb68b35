import type { FlagSetScope } from '../access/sdk-keys.ts'
import { contextHashOf } from '../evaluation/entity-tag.ts'
import type { FlagSession } from './flag-session.ts'

/** Live clients that receive the same flags of one environment and whose contexts are equal. */
export interface Audience {
  /** Its name among the audiences of the environment. */
  readonly name: string
  /** The context, as `HeldContext` has it. */
  readonly text: string
  readonly contextHash: string
  readonly sessions: Set<FlagSession>
}

/** The audiences of one environment and kind of SDK key. */
export class Audiences implements Iterable<FlagSession> {
  readonly #scope: FlagSetScope
  readonly #byName = new Map<string, Audience>()

  constructor(scope: FlagSetScope) {
    this.#scope = scope
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0
  }

  /** Those with this context; a new audience is not among the others before its first session is. */
  of(text: string): Audience {
    const contextHash = contextHashOf(this.#scope, text)
    const found = this.#byName.get(contextHash)
    // Hashes can be forged, and nobody shall be told what another context is told.
    const isOther = found !== undefined && found.text !== text
    const name = isOther ? text : contextHash
    const known = isOther ? this.#byName.get(name) : found
    return known ?? { name, text, contextHash, sessions: new Set() }
  }

  add(session: FlagSession): void {
    const { audience } = session
    audience.sessions.add(session)
    this.#byName.set(audience.name, audience)
  }

  /** False when it was not there. */
  remove(session: FlagSession): boolean {
    const { name, sessions } = session.audience
    const wasThere = sessions.delete(session)
    if (sessions.size === 0) this.#byName.delete(name)
    return wasThere
  }

  /** Those with equal contexts one after the other. Who comes or goes meanwhile does no harm. */
  *[Symbol.iterator](): Iterator<FlagSession> {
    for (const { sessions } of this.#byName.values()) yield* sessions
  }
}
