import type { FlagSet } from '@ff/core'
import type { EnvironmentScope } from '../access/scope.ts'
import type { FlagSetAnswer, FlagSetUpdates } from '../evaluation/flag-set-updates.ts'
import type { FlagSetState } from './flag-set-diff.ts'
import { FLAG_SET_GROUP } from './held-context.ts'
import type { EndReason, LiveSession, LiveTransport } from './live-session.ts'

/** The methods by which a session sends flag-set updates over its transport. */
export interface FlagSetSink {
  readonly transport: LiveTransport
  /** `true` if the request of the client named the version that it has. */
  readonly hasConfirmed: boolean
  /**
   * Sends an update. `answer` is `undefined` if the update could not be loaded. Returns `false` if
   * the client is too slow; the sink must then call `resume` when the client can receive updates
   * again.
   */
  deliver(version: number, answer: FlagSetAnswer | undefined): boolean
  /** Ends the connection or poll of the client. */
  end(reason: EndReason): void
}

interface FlagSetSessionOptions {
  readonly scope: EnvironmentScope
  /** The version that the client has. */
  readonly version: number
  readonly sink: FlagSetSink
  readonly updates: FlagSetUpdates
}

/** One live client that receives the flag set and evaluates flags itself. */
export class FlagSetSession implements LiveSession {
  readonly scope: EnvironmentScope
  readonly group = FLAG_SET_GROUP
  readonly #sink: FlagSetSink
  readonly #updates: FlagSetUpdates
  #version: number
  /** The newest published flag set. */
  #newest: FlagSet | undefined
  #isLoading = false
  #isStale = false

  constructor({ scope, version, sink, updates }: FlagSetSessionOptions) {
    this.scope = scope
    this.#sink = sink
    this.#updates = updates
    this.#version = version
  }

  /** The transport of the client. */
  get transport(): LiveTransport {
    return this.#sink.transport
  }

  /** `true` if the client has confirmed the version that it has. */
  get hasConfirmed(): boolean {
    return this.#sink.hasConfirmed
  }

  /** The version that the client has. */
  get version(): number {
    return this.#version
  }

  /** Returns `true` if the client has received all changes up to this version. */
  hasVersion(version: number): boolean {
    return !this.#isStale && this.#version >= version
  }

  /**
   * Sends the changes since the last delivery. A step of a gradual rollout is no change, because
   * the client computes it itself.
   */
  sendChanges({ flagSet }: FlagSetState): void {
    this.#newest = flagSet
    this.#send()
  }

  /** Sends the changes that the client has missed. Call it when the client can receive updates. */
  resume(): void {
    this.#isStale = false
    this.#send()
  }

  /** Ends the session on the server's side. */
  end(reason: EndReason): void {
    this.#sink.end(reason)
  }

  #send(): void {
    const newest = this.#newest
    if (this.#isLoading || this.#isStale || newest === undefined) return
    const { version } = newest
    if (version === this.#version) return
    const update = this.#updates.find(newest, this.#version)
    if (update === undefined) void this.#load()
    else this.#deliver(version, { update, version, isRestored: false })
  }

  async #load(): Promise<void> {
    this.#isLoading = true
    // The failure of the store is already logged.
    const answer = await this.#updates.get(this.scope, this.#version).catch(() => undefined)
    this.#isLoading = false
    const version = answer?.version ?? this.#newest?.version ?? this.#version
    if (version !== this.#version) this.#deliver(version, answer)
    // Another version may have been published while this one was loaded.
    if (answer !== undefined) this.#send()
  }

  #deliver(version: number, answer: FlagSetAnswer | undefined): void {
    if (this.#sink.deliver(version, answer)) this.#version = version
    else this.#isStale = true
  }
}
