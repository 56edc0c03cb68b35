import type { FlagSetScope } from '../access/sdk-keys.ts'
import { contextHashOf } from '../evaluation/entity-tag.ts'
import type { FlagSession } from './flag-session.ts'
import type { SubscriberGroup } from './subscriber-group.ts'

interface Entry {
  readonly group: SubscriberGroup
  readonly sessions: Set<FlagSession>
}

/** The subscriber groups of one environment and kind of SDK key. */
export class SubscriberGroups implements Iterable<FlagSession> {
  readonly #scope: FlagSetScope
  readonly #byName = new Map<string, Entry>()

  constructor(scope: FlagSetScope) {
    this.#scope = scope
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0
  }

  /** The group of a context. A new group is registered when its first session is added. */
  of(text: string): SubscriberGroup {
    const contextHash = contextHashOf(this.#scope, text)
    const found = this.#byName.get(contextHash)
    // Hashes can be forged: a client must not receive the values of another context.
    const isOther = found !== undefined && found.group.text !== text
    const name = isOther ? text : contextHash
    const known = isOther ? this.#byName.get(name) : found
    return known?.group ?? { name, text, contextHash }
  }

  add(session: FlagSession): void {
    const { group } = session
    const entry = this.#byName.get(group.name) ?? { group, sessions: new Set() }
    entry.sessions.add(session)
    this.#byName.set(group.name, entry)
  }

  /** Returns whether the session was registered. */
  remove(session: FlagSession): boolean {
    const { name } = session.group
    const sessions = this.#byName.get(name)?.sessions
    const wasRegistered = sessions?.delete(session) ?? false
    if (sessions?.size === 0) this.#byName.delete(name)
    return wasRegistered
  }

  /** Sessions of one group follow each other. Sessions may be added and removed meanwhile. */
  *[Symbol.iterator](): Iterator<FlagSession> {
    for (const { sessions } of this.#byName.values()) yield* sessions
  }
}
