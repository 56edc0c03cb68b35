import { type EnvironmentScope, type FlagSetScope, SDK_KEY_KINDS } from '../access/scope.ts'
import { contextHashOf } from '../evaluation/entity-tag.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { forEachInTimeSlices } from '../runtime/time-slice.ts'
import type { FlagSession } from './flag-session.ts'
import type { SubscriberGroup } from './held-context.ts'
import type { EndReason, LiveSession, LiveTransport } from './live-session.ts'

interface Entry {
  readonly group: SubscriberGroup
  readonly sessions: Set<LiveSession>
}

/** The subscriber groups of one environment and kind of SDK key. Iterates over their sessions. */
export class SubscriberGroups implements Iterable<LiveSession> {
  readonly #scope: FlagSetScope
  readonly #byName = new Map<string, Entry>()

  constructor(scope: FlagSetScope) {
    this.#scope = scope
  }

  /** `true` if there are no sessions. */
  get isEmpty(): boolean {
    return this.#byName.size === 0
  }

  /**
   * Returns the group of the context with this JSON text. A new group is registered when its first
   * session is added.
   */
  of(text: string): SubscriberGroup {
    const contextHash = contextHashOf(this.#scope, text)
    const found = this.#byName.get(contextHash)
    // Hashes can be forged. A client must not receive the values of another context.
    const isOther = found !== undefined && found.group.text !== text
    const name = isOther ? text : contextHash
    return this.#byName.get(name)?.group ?? { name, text, contextHash }
  }

  /** Adds a session to its group. */
  add(session: LiveSession): void {
    const { group } = session
    const create = () => ({ group, sessions: new Set<LiveSession>() })
    getOrInsert(this.#byName, group.name, create).sessions.add(session)
  }

  /** Removes a session. Returns `true` if it was registered. */
  remove(session: LiveSession): boolean {
    const { name } = session.group
    const sessions = this.#byName.get(name)?.sessions
    const wasRegistered = sessions?.delete(session) ?? false
    if (sessions?.size === 0) this.#byName.delete(name)
    return wasRegistered
  }

  /** Iterates over the sessions by group. Sessions may be added and removed while iterating. */
  *[Symbol.iterator](): Iterator<LiveSession> {
    for (const { sessions } of this.#byName.values()) yield* sessions
  }
}

/** The sessions of all live clients, by environment and kind of SDK key. */
export class SessionRegistry {
  /** The groups by the name of the scope. */
  readonly #byScope = new Map<string, SubscriberGroups>()
  readonly #counts: Record<LiveTransport, number> = { ws: 0, poll: 0 }
  #isClosed = false
  #listener: (environmentId: string) => void = () => undefined

  /** The number of sessions. */
  get size(): number {
    return this.#counts.ws + this.#counts.poll
  }

  /** Returns the group of the sessions that have the context with this JSON text. */
  groupOf(scope: FlagSetScope, text: string): SubscriberGroup {
    return (this.#find(scope) ?? new SubscriberGroups(scope)).of(text)
  }

  /**
   * Sets the function that is called after the first session of an environment and a kind of SDK key
   * was added, and after the last one was removed.
   */
  listen(listener: (environmentId: string) => void): void {
    this.#listener = listener
  }

  /** Iterates over the environments that have sessions. */
  environmentIds(): Iterable<string> {
    return new Set([...this.#byScope.keys()].map((name) => name.slice(name.indexOf(' ') + 1)))
  }

  /** Registers a session. After `close`, the session is ended immediately. */
  add(session: LiveSession): void {
    const { scope } = session
    const groups = getOrInsert(this.#byScope, nameOf(scope), () => new SubscriberGroups(scope))
    const isFirst = groups.isEmpty
    groups.add(session)
    this.#counts[session.transport] += 1
    if (isFirst) this.#listener(scope.environmentId)
    if (this.#isClosed) session.end('goingAway')
  }

  /** Removes a session. Does nothing if it is not registered. */
  remove(session: LiveSession): void {
    const groups = this.#find(session.scope)
    if (groups?.remove(session) !== true) return
    this.#counts[session.transport] -= 1
    if (!groups.isEmpty) return
    this.#byScope.delete(nameOf(session.scope))
    this.#listener(session.scope.environmentId)
  }

  /** Changes the context of a registered session to the one with this JSON text. */
  move(session: FlagSession, text: string): void {
    const groups = this.#find(session.scope)
    if (groups === undefined) return
    const group = groups.of(text)
    groups.remove(session)
    session.moveTo(group)
    groups.add(session)
  }

  /** Returns the number of sessions with a transport, in all environments. */
  count(transport: LiveTransport): number {
    return this.#counts[transport]
  }

  /** Returns `true` if the environment has sessions. */
  has(environmentId: string): boolean {
    return SDK_KEY_KINDS.some((kind) => this.#byScope.has(nameOf({ environmentId, kind })))
  }

  /**
   * Iterates over the sessions of a scope by group. Sessions may be added and removed during the
   * iteration.
   */
  of(scope: FlagSetScope): Iterable<LiveSession> {
    return this.#find(scope) ?? []
  }

  /**
   * Ends the sessions with a matching scope, in time slices. Their transports remove them from the
   * registry.
   */
  end(matches: (scope: EnvironmentScope) => boolean, reason: EndReason): Promise<void> {
    return forEachInTimeSlices(this.#all(), (session) => {
      if (matches(session.scope)) session.end(reason)
    })
  }

  /** Ends all sessions, and every session that is added later. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.end(() => true, 'goingAway')
  }

  *#all(): Iterable<LiveSession> {
    for (const groups of this.#byScope.values()) yield* groups
  }

  #find(scope: FlagSetScope): SubscriberGroups | undefined {
    return this.#byScope.get(nameOf(scope))
  }
}

function nameOf({ environmentId, kind }: FlagSetScope): string {
  return `${kind} ${environmentId}`
}
