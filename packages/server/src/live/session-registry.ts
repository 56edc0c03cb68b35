import type { EnvironmentScope, FlagSetScope, SdkKeyKind } from '../access/sdk-keys.ts'
import { inSlices } from '../runtime/time-slice.ts'
import { type Audience, Audiences } from './audience.ts'
import type { EndReason, FlagSession, LiveTransport } from './flag-session.ts'

/** The sessions of all live clients, by environment and kind of SDK key. */
export class SessionRegistry {
  readonly #byEnvironment: Readonly<Record<SdkKeyKind, Map<string, Audiences>>> = {
    client: new Map(),
    server: new Map(),
  }
  readonly #counts: Record<LiveTransport, number> = { ws: 0, poll: 0 }
  #isClosed = false

  /** How many sessions there are. */
  get size(): number {
    return this.#counts.ws + this.#counts.poll
  }

  /** The audience of a session whose context has this text. */
  audienceOf(scope: FlagSetScope, text: string): Audience {
    return (this.#find(scope) ?? new Audiences(scope)).of(text)
  }

  /** Registers a session; after `close` it is ended at once. */
  add(session: FlagSession): void {
    this.#audiencesOf(session.scope).add(session)
    this.#counts[session.transport] += 1
    if (this.#isClosed) session.end('goingAway')
  }

  remove(session: FlagSession): void {
    const { environmentId, kind } = session.scope
    const audiences = this.#find(session.scope)
    if (audiences?.remove(session) !== true) return
    this.#counts[session.transport] -= 1
    if (audiences.isEmpty) this.#byEnvironment[kind].delete(environmentId)
  }

  /** Gives a registered session the context with this text. */
  move(session: FlagSession, text: string): void {
    const audiences = this.#audiencesOf(session.scope)
    const audience = audiences.of(text)
    audiences.remove(session)
    session.moveTo(audience)
    audiences.add(session)
  }

  /** All sessions of a transport, in whatever environment. */
  count(transport: LiveTransport): number {
    return this.#counts[transport]
  }

  has(environmentId: string): boolean {
    return Object.values(this.#byEnvironment).some((environments) =>
      environments.has(environmentId),
    )
  }

  /** Those with equal contexts one after the other; who comes or goes meanwhile does no harm. */
  of(scope: FlagSetScope): Iterable<FlagSession> {
    return this.#find(scope) ?? []
  }

  /** Ends the sessions whose scope is meant, in slices; whoever holds one then removes it. */
  end(isMeant: (scope: EnvironmentScope) => boolean, reason: EndReason): Promise<void> {
    return inSlices(this.#all(), (session) => {
      if (isMeant(session.scope)) session.end(reason)
    })
  }

  /** Ends all sessions, those to come included. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.end(() => true, 'goingAway')
  }

  *#all(): Iterable<FlagSession> {
    for (const environments of Object.values(this.#byEnvironment)) {
      for (const audiences of environments.values()) yield* audiences
    }
  }

  #find({ environmentId, kind }: FlagSetScope): Audiences | undefined {
    return this.#byEnvironment[kind].get(environmentId)
  }

  #audiencesOf({ environmentId, kind }: FlagSetScope): Audiences {
    const known = this.#byEnvironment[kind].get(environmentId)
    if (known !== undefined) return known
    const audiences = new Audiences({ environmentId, kind })
    this.#byEnvironment[kind].set(environmentId, audiences)
    return audiences
  }
}
