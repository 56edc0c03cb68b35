import type { EnvironmentScope, FlagSetScope, SdkKeyKind } from '../access/sdk-keys.ts'
import { forEachInTimeSlices } from '../runtime/time-slice.ts'
import type { EndReason, FlagSession, LiveTransport } from './flag-session.ts'
import type { SubscriberGroup } from './subscriber-group.ts'
import { SubscriberGroups } from './subscriber-groups.ts'

/** The sessions of all live clients, by environment and kind of SDK key. */
export class SessionRegistry {
  readonly #byEnvironment: Readonly<Record<SdkKeyKind, Map<string, SubscriberGroups>>> = {
    client: new Map(),
    server: new Map(),
  }
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
    this.#groupsOf(session.scope).add(session)
    this.#counts[session.transport] += 1
    if (this.#isClosed) session.end('goingAway')
  }

  remove(session: FlagSession): void {
    const { environmentId, kind } = session.scope
    const groups = this.#find(session.scope)
    if (groups?.remove(session) !== true) return
    this.#counts[session.transport] -= 1
    if (groups.isEmpty) this.#byEnvironment[kind].delete(environmentId)
  }

  /** Gives a registered session the context with this text. */
  move(session: FlagSession, text: string): void {
    const groups = this.#groupsOf(session.scope)
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
    return Object.values(this.#byEnvironment).some((environments) =>
      environments.has(environmentId),
    )
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
    for (const environments of Object.values(this.#byEnvironment)) {
      for (const groups of environments.values()) yield* groups
    }
  }

  #find({ environmentId, kind }: FlagSetScope): SubscriberGroups | undefined {
    return this.#byEnvironment[kind].get(environmentId)
  }

  #groupsOf({ environmentId, kind }: FlagSetScope): SubscriberGroups {
    const known = this.#byEnvironment[kind].get(environmentId)
    if (known !== undefined) return known
    const groups = new SubscriberGroups({ environmentId, kind })
    this.#byEnvironment[kind].set(environmentId, groups)
    return groups
  }
}
