import type { EvaluationContext, EvaluationDetail, FlagValue } from '@ff/core'
import { type FlagValues, SDK_PATHS } from '@ff/protocol/sdk'
import type { FlagSnapshot } from '@ff/protocol/snapshot'
import type { Client } from './access/client.ts'
import { spreadSeconds } from './access/connection-throttle.ts'
import { RequestLimiter } from './access/rate-limit.ts'
import { SdkKeyVerifier } from './access/sdk-keys.ts'
import { InstanceReporter } from './convergence/instance-reporter.ts'
import { EvaluationScheduler } from './evaluation/evaluation-scheduler.ts'
import { FlagSetCache } from './evaluation/flag-set-cache.ts'
import { FlagSetUpdates } from './evaluation/flag-set-updates.ts'
import { toSocketRefusal } from './http/error-reply.ts'
import type { Exchange, Reply } from './http/exchange.ts'
import { createFetch, type Fetch } from './http/fetch.ts'
import { createHandler } from './http/handler.ts'
import { Metrics } from './http/metrics.ts'
import { RequestLog, type TracedRequest } from './http/request-log.ts'
import { SdkEndpoints } from './http/sdk.ts'
import type { EnvironmentRef } from './in-process/environment-resolver.ts'
import {
  type FlagDetail,
  InProcessEvaluator,
  type ValueLike,
} from './in-process/in-process-evaluator.ts'
import { Instance } from './instance.ts'
import { Broadcaster } from './live/broadcaster.ts'
import { ClientBudget } from './live/client-budget.ts'
import { OpenSockets } from './live/open-sockets.ts'
import { SessionRegistry } from './live/session-registry.ts'
import type { SocketConnection } from './live/socket-connection.ts'
import type { SocketLike, SocketRefusal } from './live/socket-like.ts'
import type { ConnectedManagementPlane, ManagementPlane } from './management-plane.ts'
import { type FlagServerOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import type { Clock } from './runtime/clock.ts'
import { InFlight } from './runtime/in-flight.ts'
import { JobLease } from './runtime/job-lease.ts'
import { Jobs } from './runtime/jobs.ts'
import { MAX_QUEUED_UPGRADES } from './runtime/memory-bounds.ts'
import { ServerLifecycle } from './server-lifecycle.ts'
import { watchServer } from './server-metrics.ts'
import { SavedState } from './snapshots/saved-state.ts'
import { UsageRecorder } from './usage/usage-recorder.ts'

/**
 * A feature-flag server. It can be mounted in an application, and the application can call it
 * directly.
 *
 * @example
 * const flags = createFlagServer({ ...sqlite({ path: 'flags.db' }), basePath: '/flags' })
 * app.use('/flags', toNodeHandler(flags))
 * attachWebSocket(httpServer, flags)
 * await flags.value({ project: 'shop', environment: 'live' }, 'new-checkout', context, false)
 */
export class FlagServer<As = unknown> {
  /**
   * Handles a web request and resolves with the web response. Can be passed as a plain function,
   * because it does not use `this`. Pass the address of the sender as the second argument, so that
   * limits for each address apply.
   */
  readonly fetch: Fetch
  /** Handles a request that a platform binding has received. Neither throws nor rejects. */
  readonly handle: (exchange: Exchange) => Reply | Promise<Reply>
  /**
   * The use cases of the management plane, for calls in process; `undefined` without such a plane.
   */
  readonly as: As
  readonly #options: ResolvedOptions
  readonly #metrics = new Metrics()
  readonly #evaluator: InProcessEvaluator
  readonly #sockets: OpenSockets
  readonly #requestLog: RequestLog
  readonly #lifecycle: ServerLifecycle

  constructor(options: ResolvedOptions, plane?: ManagementPlane<As>) {
    const { clock, basePath, maxLiveClients, maxHeldContextBytes } = options
    const [metrics, sessions, inFlight] = [this.#metrics, new SessionRegistry(), new InFlight()]
    const saved = new SavedState(options)
    const cache = new FlagSetCache({ ...options, saved, sessions })
    const updates = new FlagSetUpdates({ ...options, cache })
    const keys = new SdkKeyVerifier({ ...options, saved })
    const reporter = new InstanceReporter({ ...options, cache, sessions })
    const usage = new UsageRecorder({ ...options, cache, metrics })
    const instance = new Instance({ ...options, cache, sessions, reporter, usage })
    const limiter = new RequestLimiter({ ...options, limiter: options.rateLimiter, instance })
    const scheduler = new EvaluationScheduler({ clock, limiter })
    const budget = new ClientBudget({ clients: maxLiveClients, bytes: maxHeldContextBytes })
    const [start, whenReady] = [() => this.start(), () => this.#whenReady()]
    const live = { cache, updates, sessions, budget, scheduler, usage, clock }
    const sdk = new SdkEndpoints({ ...live, basePath, keys, limiter, hasOfrep: options.ofrep })
    const toRefusal = (error: unknown) => this.#toRefusal(error)
    const sockets = new OpenSockets({ ...options, ...live, whenReady, keys, limiter, toRefusal })
    const lease = new JobLease({ ...options, holder: reporter.instanceId })
    const jobsAreOff = () => lease.isOff()
    const storage = lease.watch(options.storage)
    const services = { ...options, storage, metrics, instance, start, jobsAreOff }
    const management = plane?.connect(services)
    const jobs = new Jobs(management?.jobs ?? [], { ...options, lease })
    watchServer(metrics, { cache, sessions, budget, jobs, usage, sockets })
    const isReady = () => this.#lifecycle.isReady
    const evaluator = new InProcessEvaluator({ ...options, ...live, isReady, start, saved })
    const broadcaster = new Broadcaster({ ...options, cache, keys, sessions, observer: reporter })
    this.as = management?.as as As
    this.#options = options
    this.#sockets = sockets
    this.#evaluator = evaluator
    this.#requestLog = requestLogOf(options, management)
    this.#lifecycle = new ServerLifecycle({
      ...{ options, keys, limiter, evaluator, broadcaster, reporter, management, jobs },
      ...{ sockets, sessions, inFlight, usage, saved, cache },
    })
    this.handle = createHandler({
      ...{ ...options, metrics, whenReady, inFlight, connection: this.#lifecycle.connection },
      ...{ requestLog: this.#requestLog, management: management?.handle },
      sdk: (exchange) => sdk.handle(exchange),
    })
    this.fetch = createFetch(basePath, this.handle)
  }

  /** The path under which the server is mounted; empty for the root. */
  get basePath(): string {
    return this.#options.basePath
  }

  /** The clock that the server uses. */
  get clock(): Clock {
    return this.#options.clock
  }

  /**
   * Returns 0 if a socket can be opened. If the server is closed or `queued` has reached its limit,
   * returns the number of seconds after which the client may try again. `queued` is the number of
   * upgrades that wait for their handshake. Bindings call this method.
   */
  admitSocket(queued = 0): number {
    if (!this.#lifecycle.isClosed && queued < MAX_QUEUED_UPGRADES) return 0
    this.#metrics.countRequest(SDK_PATHS.socket, 429)
    return spreadSeconds()
  }

  /**
   * Logs an upgrade that a binding refuses, and returns the id of the request, which the reply
   * contains in the header `X-Request-Id`.
   */
  refuseUpgrade(request: TracedRequest, status: number): string {
    return this.#requestLog.refuseUpgrade(request, status)
  }

  /**
   * Migrates the store, subscribes to changes and reads the SDK keys. The first request calls this
   * method. Call it earlier to detect problems at startup. After a failure, it can be called again.
   * Resolves without the store if it is unavailable and the option `snapshots` has a saved state;
   * the server then continues to connect to it. Rejects with `UNAVAILABLE` if the server is closed,
   * and with `INVALID_REQUEST` if snapshots cannot be saved.
   */
  start(): Promise<void> {
    return this.#lifecycle.start()
  }

  /**
   * Returns the value of a flag for a context; the fallback if the flag has no value of the
   * fallback's type, or cannot be evaluated. Never throws or rejects: with an unknown environment
   * or flag, an invalid context, a store that fails before the flags were loaded, or a closed
   * server, it resolves with the fallback and logs a warning.
   *
   * @example
   * await flags.value({ project: 'shop', environment: 'live' }, 'new-checkout', context, false)
   */
  async value<T extends FlagValue>(
    environment: EnvironmentRef,
    flagKey: string,
    context: EvaluationContext,
    fallback: T,
  ): Promise<ValueLike<T>> {
    const request = { flagKey, context, fallback }
    return (await this.#evaluator.detail(environment, request)).value
  }

  /**
   * Returns the value of a flag, or the fallback, with the reason. Never throws or rejects; see
   * `value`. If the value is the fallback because of an error, the reason is `ERROR`, and
   * `errorCode` and `errorMessage` describe the error.
   */
  detail<T extends FlagValue>(
    environment: EnvironmentRef,
    flagKey: string,
    context: EvaluationContext,
    fallback: T,
  ): Promise<FlagDetail<ValueLike<T>>> {
    return this.#evaluator.detail(environment, { flagKey, context, fallback })
  }

  /**
   * Returns the value of every flag for a context; an empty object if the flags cannot be
   * evaluated. Never throws or rejects; see `value`.
   */
  all(environment: EnvironmentRef, context: EvaluationContext): Promise<FlagValues> {
    return this.#evaluator.all(environment, context)
  }

  /**
   * Returns the values of all flags that clients can see, with the version and the hash of the
   * context, for the option `bootstrap` of a client in a page. Never throws or rejects; without
   * flags if they cannot be evaluated; see `value`.
   */
  snapshot(environment: EnvironmentRef, context: EvaluationContext): Promise<FlagSnapshot> {
    return this.#evaluator.snapshot(environment, context)
  }

  /**
   * Returns the value of a flag with the reason. Throws `NOT_FOUND` if the environment or the flag
   * does not exist, `INVALID_CONTEXT`, and `UNAVAILABLE` if the flags cannot be loaded or the
   * server is closed. A flag that cannot serve a value has the value `null`.
   */
  detailOrThrow(
    environment: EnvironmentRef,
    flagKey: string,
    context: EvaluationContext,
  ): Promise<EvaluationDetail> {
    return this.#evaluator.detailOrThrow(environment, flagKey, context)
  }

  /** Returns the value of every flag for a context. Throws like `detailOrThrow`. */
  allOrThrow(environment: EnvironmentRef, context: EvaluationContext): Promise<FlagValues> {
    return this.#evaluator.allOrThrow(environment, context)
  }

  /**
   * Connects a socket that was just opened. `client` is the sender of the upgrade request. Without
   * `client`, the address of the socket is unknown. Bindings call this method.
   */
  acceptSocket(socket: SocketLike, client?: Client): SocketConnection {
    return this.#sockets.accept(socket, client)
  }

  /** Releases the connection of a socket that was closed. Bindings call this method. */
  releaseSocket(connection: SocketConnection): void {
    this.#sockets.release(connection)
    const { openedAt, closing } = connection
    this.#requestLog.socketClosed(openedAt, closing)
  }

  /**
   * Stops gracefully: replies to pending polls with the current values, closes sockets with the
   * code 1001, stops timers, and closes the store. Stop accepting connections before calling this
   * method.
   */
  close(): Promise<void> {
    return this.#lifecycle.close()
  }

  #toRefusal(error: unknown): SocketRefusal {
    const refusal = toSocketRefusal(error, this.#options.logger)
    const { statusCode } = refusal.message
    if (statusCode === 429) this.#metrics.countRequest(SDK_PATHS.socket, statusCode)
    return refusal
  }

  #whenReady(): Promise<void> | undefined {
    return this.#lifecycle.isReady ? undefined : this.start()
  }
}

function requestLogOf(
  options: ResolvedOptions,
  management: ConnectedManagementPlane<unknown> | undefined,
): RequestLog {
  return new RequestLog({ ...options, templateOf: (path) => management?.templateOf(path) })
}

/**
 * Creates a server. Without adapters, it keeps everything in memory. Throws `INVALID_REQUEST` if an
 * option is invalid.
 */
export function createFlagServer<As = undefined>(
  options: FlagServerOptions<As> = {},
): FlagServer<As> {
  return new FlagServer(resolveOptions(options), options.management)
}
