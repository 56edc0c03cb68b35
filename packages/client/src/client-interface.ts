import type { EvaluationContext } from '@ff/core'
import type { FlagTypes } from '@ff/core/flag-types'
import type { FlagSnapshot } from '@ff/protocol/snapshot'
import type { Clock } from './connection/alarms.ts'
import type { ConnectionFailure, ConnectionState } from './connection/connection-state.ts'
import type { Transport } from './connection/ladder.ts'
import type { Lifecycle } from './connection/platform.ts'
import type { ClientSocketConstructor, Fetch } from './transports/transport.ts'
import type { FlagDetail, ValueSource } from './values/flag-detail.ts'
import type { FlagCache } from './values/value-cache.ts'

/** The values that a client had when `FlagClient.ready` resolved. */
export type Readiness = 'live' | 'cached' | 'bootstrapped' | 'fallbacks'

/** The state of a client. */
export interface ClientStatus {
  readonly source: ValueSource
  /** `true` if the values belong to the current context. */
  readonly isOfContext: boolean
  /** `true` if the values belong to the current context and the connection keeps them current. */
  readonly isCurrent: boolean
  /** The version of the flag set; 0 if it is not known. */
  readonly version: number
  /**
   * The time at which the server last confirmed the values, in epoch milliseconds; `undefined` if
   * it is not known.
   */
  readonly updatedAt: number | undefined
  readonly connection: ConnectionState
  /** The failure of the last attempt; `undefined` if it succeeded or there was none. */
  readonly failure: ConnectionFailure | undefined
}

/** Removes the listener. */
export type Unsubscribe = () => void

/**
 * A client of a flag server. No method throws, and no promise rejects. Values must not be changed.
 */
export interface FlagClient<Values> {
  /**
   * Returns the value of a flag: its override, its last known value for the current context, or its
   * fallback. The optional `fallback` takes precedence over the fallback of the flag's type. While
   * `setContext` waits for the server, the values of the previous context are returned.
   */
  value<Key extends keyof Values & string>(key: Key, fallback?: Values[Key]): Values[Key]
  /** Returns the same value as `value`, with its origin. Equal details are the same object. */
  detail<Key extends keyof Values & string>(
    key: Key,
    fallback?: Values[Key],
  ): FlagDetail<Values[Key]>
  /**
   * Calls a listener with the new value each time when the value of a flag changes. All values of an
   * update are set before the first listener is called. Errors of a listener are passed to
   * `onError`.
   */
  subscribe<Key extends keyof Values & string>(
    key: Key,
    listener: (value: Values[Key]) => void,
  ): Unsubscribe
  /**
   * Calls a listener each time when `status` or a value can have changed. Errors of the listener are
   * passed to `onError`.
   */
  watch(listener: () => void): Unsubscribe
  /**
   * Replaces the context. The previous values remain until the new values are available. Resolves
   * when the new values are available, when the attempt to get them has failed, or when the context
   * is replaced again.
   */
  setContext(context: EvaluationContext): Promise<void>
  /**
   * Replaces the context and removes the values of the previous context immediately, for example
   * after a log-out. Ends `freeze`. Resolves as `setContext` does.
   */
  reset(context: EvaluationContext): Promise<void>
  /**
   * Resolves when the server has sent the values of the current context, but after `timeoutMs`
   * (default 5,000) at the latest.
   */
  ready(options?: { readonly timeoutMs?: number }): Promise<Readiness>
  /** The state of the client: the same object until something in it changes. */
  readonly status: ClientStatus
  /** Returns the current values. A frozen view of a local client returns the values that it keeps. */
  snapshot(): FlagSnapshot
  /** Keeps the values that `value` returns unchanged until `unfreeze` or `reset` is called. */
  freeze(): void
  /** Ends `freeze`. Listeners are called for each flag with a changed value. */
  unfreeze(): void
  /** Connects a client that was created with `connect: false`, or that was closed. */
  connect(): void
  /** Ends the connection and all timers. Values remain available. `connect` opens it again. */
  close(): void
}

/** The options of a client. The platform's own parts are the defaults of the last five. */
export interface FlagClientOptions<Values> {
  /** The URL of the server, with its base path. */
  readonly url: string
  readonly sdkKey: string
  /**
   * The flags of the program. Created by `defineFlags` of `@ff/core`. Without it, the client has no
   * typed keys, as for a program that reads all its flags through OpenFeature.
   */
  readonly flags?: Pick<FlagTypes<Values>, 'types'>
  /** The first context. The default is the empty context. */
  readonly context?: EvaluationContext
  /** Values to use until the server responds, for example the snapshot of another client. */
  readonly bootstrap?: FlagSnapshot
  /** The store of the last values of each context. By default, values are not stored. */
  readonly cache?: FlagCache
  /**
   * `false` if the client connects only when `connect` is called, for example because it is created
   * while a page is rendered. Until then, its connection is `idle`.
   */
  readonly connect?: boolean
  /** The transport. The default `auto` uses the best transport that works. */
  readonly transport?: Transport | 'auto'
  /**
   * A query that replaces the values of flags, such as `?ff.theme=dark`. Pass `location.search` to
   * let the address of the page do this.
   */
  readonly overrides?: string
  /**
   * Receives errors: of listeners, of the cache, and the first failure of each kind to reach the
   * server. Such an error names the URL and the cause, and its `code` is the `failure` of the status.
   * It comes again only after a minute without failures, and never for a pause of the platform.
   * Without this option, `@ff/client/node` writes errors to the console, and other clients do not
   * report them.
   */
  readonly onError?: (error: unknown) => void
  readonly fetch?: Fetch
  readonly webSocket?: ClientSocketConstructor
  readonly clock?: Clock
  readonly random?: () => number
  readonly lifecycle?: Lifecycle
}

/** The type of a client with these flags: `FlagClientOf<typeof shopFlags>`. */
export type FlagClientOf<Flags> =
  Flags extends Pick<FlagTypes<infer Values>, 'types'> ? FlagClient<Values> : never
