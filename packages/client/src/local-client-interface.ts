import type { EvaluationContext, Extensions } from '@ff/core'
import type { FlagTypes } from '@ff/core/flag-types'
import type { FlagSnapshot } from '@ff/protocol/snapshot'
import type { ClientStatus, FlagClient, Readiness, Unsubscribe } from './client-interface.ts'
import type { Clock } from './connection/alarms.ts'
import type { Transport } from './connection/ladder.ts'
import type { FlagSetSource } from './local/flag-set-sources.ts'
import type { FlagSetListener } from './local/listeners.ts'
import type { LocalDetail } from './local/local-detail.ts'
import type { ClientSocketConstructor, Fetch } from './transports/transport.ts'
import type { FlagCache } from './values/value-cache.ts'

/** The options of a local client. The platform's own parts are the defaults of the last four. */
export interface LocalClientOptions<Values> {
  /** The URL of the server, with its base path. */
  readonly url: string
  /** An SDK key of the kind `server`. */
  readonly sdkKey: string
  /**
   * The flags of the program. Created by `defineFlags` of `@ff/core`. Without it, the client has no
   * typed keys, as for a program that reads all its flags through OpenFeature.
   */
  readonly flags?: Pick<FlagTypes<Values>, 'types'>
  /**
   * The sources of flag sets. The default is `['server']`. Functions are called one after another at
   * the start, and every 30 to 60 seconds while the server does not keep the flag set current. The
   * newest version is used.
   */
  readonly sources?: readonly FlagSetSource[]
  /** The store of the last flag set from the server. By default, it is not stored. */
  readonly cache?: FlagCache
  /** `false` if evaluations are not reported to the server. */
  readonly usage?: boolean
  /** The transport. The default `auto` uses the best transport that works. */
  readonly transport?: Transport | 'auto'
  /** Extensions of the engine, such as `re2` of `@ff/core/regex`. */
  readonly extensions?: Extensions
  /**
   * Receives errors: of listeners, sources and the cache, of flag sets that cannot be used, of
   * evaluations that are not reported, and the first failure of each kind to reach the server, as
   * `onError` of `FlagClientOptions`. An error about dropped evaluations has their number in the
   * property `evaluations`. Messages have no changing parts.
   */
  readonly onError?: (error: unknown) => void
  readonly fetch?: Fetch
  readonly webSocket?: ClientSocketConstructor
  readonly clock?: Clock
  readonly random?: () => number
}

/** The state of a local client. */
export interface LocalStatus extends ClientStatus {
  /** The root of the flag set; `undefined` if there is none. See `@ff/core/flag-set-root`. */
  readonly root: string | undefined
}

/**
 * A client that evaluates flags in the process. No method throws, and no promise rejects. Values
 * must not be changed.
 */
export interface LocalClient<Values> {
  /** The flags of the program, as in the options. */
  readonly flags: Pick<FlagTypes<Values>, 'types'>
  /**
   * Returns the value of a flag, or its fallback if there is no flag set, or if the flag has no
   * value of the expected type. The optional `fallback` takes precedence over the fallback of the
   * flag's type.
   */
  value<Key extends keyof Values & string>(
    key: Key,
    context: EvaluationContext,
    fallback?: Values[Key],
  ): Values[Key]
  /** Returns the same value as `value`, with its explanation and origin. */
  detail<Key extends keyof Values & string>(
    key: Key,
    context: EvaluationContext,
    fallback?: Values[Key],
  ): LocalDetail<Values[Key]>
  /** Returns the values of exactly the defined flags, in an object without a prototype. */
  all(context: EvaluationContext): Readonly<Values>
  /**
   * Returns a client with the values of one context. It has no connection of its own. A function
   * that returns the context is called once, when the first value is read. If it throws or returns
   * no valid context, `onError` receives the error, and the values are fallbacks.
   */
  for(context: EvaluationContext | (() => EvaluationContext)): FlagClient<Values>
  /**
   * Returns the values of all flags that clients can see, for the option `bootstrap` of a client
   * with the same context.
   */
  snapshot(context: EvaluationContext): FlagSnapshot
  /**
   * Calls a listener when flags can have other values than before, after a new version of the flag
   * set or a step of a gradual rollout. Errors of a listener are passed to `onError`.
   */
  subscribe(listener: FlagSetListener): Unsubscribe
  /** Calls a listener when one flag can have other values than before. */
  subscribe<Key extends keyof Values & string>(key: Key, listener: FlagSetListener): Unsubscribe
  /**
   * Calls a listener each time when `status` can have changed. Errors of the listener are passed to
   * `onError`.
   */
  watch(listener: () => void): Unsubscribe
  /**
   * Resolves when the server has confirmed the flag set or, without the server as a source, when
   * all sources were called; but after `timeoutMs` (default 5,000) at the latest.
   */
  ready(options?: { readonly timeoutMs?: number }): Promise<Readiness>
  /** The state of the client: the same object until something in it changes. */
  readonly status: LocalStatus
  /**
   * Ends the connection and all timers. Flags can still be evaluated. Resolves when the last
   * evaluations are reported and the flag set is stored, but after five seconds at the latest. If
   * the server does not respond to the last report at all, it is not repeated.
   */
  close(): Promise<void>
}
