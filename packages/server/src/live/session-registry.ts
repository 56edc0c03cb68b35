import type { EnvironmentScope } from '../access/sdk-keys.ts'
import type { EndReason, FlagSession, LiveTransport } from './flag-session.ts'

/** The sessions of all live clients, by environment. */
export class SessionRegistry {
  readonly #byEnvironment = new Map<string, Set<FlagSession>>()
  #size = 0
  #isClosed = false

  /** How many sessions there are. */
  get size(): number {
    return this.#size
  }

  /** Registers a session; after `close` it is ended at once. */
  add(session: FlagSession): void {
    const { environmentId } = session.scope
    const sessions = this.#byEnvironment.get(environmentId) ?? new Set()
    this.#byEnvironment.set(environmentId, sessions)
    if (!sessions.has(session)) this.#size += 1
    sessions.add(session)
    if (this.#isClosed) session.end('goingAway')
  }

  remove(session: FlagSession): void {
    const { environmentId } = session.scope
    const sessions = this.#byEnvironment.get(environmentId)
    if (sessions?.delete(session) !== true) return
    this.#size -= 1
    if (sessions.size === 0) this.#byEnvironment.delete(environmentId)
  }

  /** All sessions of a transport, in whatever environment. */
  count(transport: LiveTransport): number {
    let count = 0
    for (const sessions of this.#byEnvironment.values()) {
      for (const session of sessions) if (session.transport === transport) count += 1
    }
    return count
  }

  has(environmentId: string): boolean {
    return this.#byEnvironment.has(environmentId)
  }

  of(environmentId: string): Iterable<FlagSession> {
    return this.#byEnvironment.get(environmentId) ?? []
  }

  /** Ends the sessions whose scope is meant; whoever holds one then removes it. */
  end(isMeant: (scope: EnvironmentScope) => boolean, reason: EndReason): void {
    for (const sessions of [...this.#byEnvironment.values()]) {
      for (const session of [...sessions]) if (isMeant(session.scope)) session.end(reason)
    }
  }

  /** Ends all sessions, those to come included. */
  close(): void {
    this.#isClosed = true
    this.end(() => true, 'goingAway')
  }
}
