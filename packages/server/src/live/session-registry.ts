import { type EnvironmentScope, type FlagSetScope, SDK_KEY_KINDS } from '../access/sdk-keys.ts'
import { contextHashOf } from '../evaluation/entity-tag.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { forEachInTimeSlices } from '../runtime/time-slice.ts'
import type { EndReason, FlagSession, LiveTransport } from './flag-session.ts'
import type { SubscriberGroup } from './held-context.ts'

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
    return this.#byName.get(name)?.group ?? { name, text, contextHash }
  }

  add(session: FlagSession): void {
    const { group } = session
    const create = () => ({ group, sessions: new Set<FlagSession>() })
    getOrInsert(this.#byName, group.name, create).sessions.add(session)
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

/** The sessions of all live clients, by environment and kind of SDK key. */
export class SessionRegistry {
  /** By the name of the scope. */
  readonly #byScope = new Map<string, SubscriberGroups>()
  readonly #counts: Record<LiveTransport, number> = { ws: 0, poll: 0 }
  #isClosed = false

  /** The number of sessions. */
  get size(): number {
    return this.#counts.ws + this.#counts.poll
  }

  /** Returns the group of the sessions whose context has this text. */
  groupOf(scope: FlagSetScope, text: string): SubscriberGroup {
    return (this.#find(scope) ?? new SubscriberGroups(scope)).of(text)
  }

  /** Registers a session; after `close` it is ended at once. */
  add(session: FlagSession): void {
    const { scope } = session
    getOrInsert(this.#byScope, nameOf(scope), () => new SubscriberGroups(scope)).add(session)
    this.#counts[session.transport] += 1
    if (this.#isClosed) session.end('goingAway')
  }

  remove(session: FlagSession): void {
    const groups = this.#find(session.scope)
    if (groups?.remove(session) !== true) return
    this.#counts[session.transport] -= 1
    if (groups.isEmpty) this.#byScope.delete(nameOf(session.scope))
  }

  /** Gives a registered session the context with this text. */
  move(session: FlagSession, text: string): void {
    const groups = this.#find(session.scope)
    if (groups === undefined) return
    const group = groups.of(text)
    groups.remove(session)
    session.moveTo(group)
    groups.add(session)
  }

  /** Returns the number of sessions of a transport, in all environments. */
  count(transport: LiveTransport): number {
    return this.#counts[transport]
  }

  has(environmentId: string): boolean {
    return SDK_KEY_KINDS.some((kind) => this.#byScope.has(nameOf({ environmentId, kind })))
  }

  /** Sessions of one group follow each other. Sessions may be added and removed meanwhile. */
  of(scope: FlagSetScope): Iterable<FlagSession> {
    return this.#find(scope) ?? []
  }

  /** Ends the sessions whose scope matches, in time slices. Their transports remove them. */
  end(matches: (scope: EnvironmentScope) => boolean, reason: EndReason): Promise<void> {
    return forEachInTimeSlices(this.#all(), (session) => {
      if (matches(session.scope)) session.end(reason)
    })
  }

  /** Ends all sessions, and those that are added later. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.end(() => true, 'goingAway')
  }

  *#all(): Iterable<FlagSession> {
    for (const groups of this.#byScope.values()) yield* groups
  }

  #find(scope: FlagSetScope): SubscriberGroups | undefined {
    return this.#byScope.get(nameOf(scope))
  }
}

function nameOf({ environmentId, kind }: FlagSetScope): string {
  return `${kind} ${environmentId}`
}
