import { type EvaluationContext, type EvaluationDetail, FlagError, type FlagValue } from '@ff/core'
import { type FlagValues, SDK_PATHS } from '@ff/protocol/sdk'
import { addressOf, type Client } from './access/client.ts'
import { ConnectionThrottle, spreadSeconds } from './access/connection-throttle.ts'
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
import { PendingSockets } from './live/pending-sockets.ts'
import { SessionRegistry } from './live/session-registry.ts'
import { SocketConnection, type SocketConnectionOptions } from './live/socket-connection.ts'
import type { SocketLike, SocketRefusal } from './live/socket-like.ts'
import type { ConnectedManagementPlane, ManagementPlane } from './management-plane.ts'
import { type FlagServerOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import type { Clock } from './runtime/clock.ts'
import { InFlight } from './runtime/in-flight.ts'
import { JobLease } from './runtime/job-lease.ts'
import { Jobs } from './runtime/jobs.ts'
import { MAX_QUEUED_UPGRADES } from './runtime/memory-bounds.ts'
import { forEachInTimeSlices } from './runtime/time-slice.ts'
import { watchServer } from './server-metrics.ts'
import { SavedState } from './snapshots/saved-state.ts'
import { StoreConnection } from './snapshots/store-connection.ts'
import { UsageRecorder } from './usage/usage-recorder.ts'

/** The longest time that a stopping server waits for requests in progress. */
const DRAIN_WITHIN_MS = 5000

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
  readonly #keys: SdkKeyVerifier
  readonly #usage: UsageRecorder
  readonly #evaluator: InProcessEvaluator
  readonly #sessions = new SessionRegistry()
  readonly #connectionOptions: SocketConnectionOptions
  /** All open sockets, with or without a session. */
  readonly #sockets = new Set<SocketConnection>()
  readonly #broadcaster: Broadcaster
  readonly #inFlight = new InFlight()
  readonly #jobs: Jobs
  readonly #reporter: InstanceReporter
  readonly #requestLog: RequestLog
  readonly #management: ConnectedManagementPlane<As> | undefined
  readonly #saved: SavedState
  readonly #connection: StoreConnection
  #state: 'new' | 'started' | 'closed' = 'new'
  #starting: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(options: ResolvedOptions, plane?: ManagementPlane<As>) {
    const { clock, basePath } = options
    const [metrics, sessions] = [this.#metrics, this.#sessions]
    const saved = new SavedState(options)
    const cache = new FlagSetCache({ ...options, saved })
    const updates = new FlagSetUpdates({ ...options, cache })
    const keys = new SdkKeyVerifier({ ...options, saved })
    const reporter = new InstanceReporter({ ...options, cache, sessions })
    const instance = new Instance({ ...options, cache, sessions, reporter })
    const limiter = new RequestLimiter({ ...options, limiter: options.rateLimiter, instance })
    const usage = new UsageRecorder({ ...options, cache, metrics })
    const scheduler = new EvaluationScheduler({ clock, limiter })
    const [budget, pending] = [budgetOf(options), pendingSocketsOf(options)]
    const [start, whenReady] = [() => this.start(), () => this.#whenReady()]
    const live = { cache, updates, sessions, budget, scheduler, usage, clock }
    const sdk = new SdkEndpoints({ ...live, basePath, keys, limiter, hasOfrep: options.ofrep })
    this.#connectionOptions = {
      ...{ ...live, whenReady, keys, limiter, pending, throttle: throttleOf(options) },
      toRefusal: (error) => this.#toRefusal(error),
    }
    const management = plane?.connect({ ...options, metrics, instance, start })
    const jobs = createJobs(management, { ...options, holder: reporter.instanceId })
    watchServer(metrics, { cache, sessions, budget, pending, jobs, usage, sockets: this.#sockets })
    this.as = management?.as as As
    this.#options = options
    this.#keys = keys
    this.#usage = usage
    const isReady = () => this.#state === 'started'
    this.#evaluator = new InProcessEvaluator({ ...options, ...live, isReady, start, saved })
    this.#management = management
    this.#jobs = jobs
    this.#reporter = reporter
    this.#broadcaster = new Broadcaster({ ...options, cache, keys, sessions, observer: reporter })
    this.#requestLog = requestLogOf(options, management)
    this.#saved = saved
    this.#connection = this.#createConnection(limiter)
    this.handle = createHandler({
      ...{ ...options, metrics, whenReady, inFlight: this.#inFlight },
      ...{ requestLog: this.#requestLog, management: management?.handle },
      connection: this.#connection,
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
    if (this.#state !== 'closed' && queued < MAX_QUEUED_UPGRADES) return 0
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
    if (this.#state === 'closed') return Promise.reject(closedError())
    this.#starting ??= this.#begin().catch((error: unknown) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
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
    const connection = new SocketConnection(socket, this.#connectionOptions)
    const address = client && addressOf(client, this.#options.trustProxy)
    this.#sockets.add(connection)
    this.#connectionOptions.pending.add(connection, address)
    return connection
  }

  /** Releases the connection of a socket that was closed. Bindings call this method. */
  releaseSocket(connection: SocketConnection): void {
    this.#sockets.delete(connection)
    connection.closed()
    const { openedAt, closing } = connection
    this.#requestLog.socketClosed(openedAt, closing)
  }

  /**
   * Stops gracefully: replies to pending polls with the current values, closes sockets with the
   * code 1001, stops timers, and closes the store. Stop accepting connections before calling this
   * method.
   */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  #toRefusal(error: unknown): SocketRefusal {
    const refusal = toSocketRefusal(error, this.#options.logger)
    const { statusCode } = refusal.message
    if (statusCode === 429) this.#metrics.countRequest(SDK_PATHS.socket, statusCode)
    return refusal
  }

  #whenReady(): Promise<void> | undefined {
    return this.#state === 'started' ? undefined : this.start()
  }

  async #begin(): Promise<void> {
    await this.#options.snapshots?.open()
    await this.#connection.start()
    if (this.#state === 'new') this.#state = 'started'
  }

  #createConnection(limiter: RequestLimiter): StoreConnection {
    const [restore, connect] = [() => this.#restore(), () => this.#connect()]
    // The rate limiter is often a part of the store.
    const onRestored = () => limiter.assumeFailure()
    return new StoreConnection({ ...this.#options, keys: this.#keys, restore, connect, onRestored })
  }

  /** Restores the saved state. Returns `true` if there is one. */
  async #restore(): Promise<boolean> {
    if (!(await this.#keys.restore())) return false
    await this.#evaluator.restore()
    return true
  }

  /** Connects the server to its store. Can be called again after a failure. */
  async #connect(): Promise<void> {
    await this.#options.storage.migrate()
    await this.#broadcaster.start()
    await this.#keys.refresh()
    this.#broadcaster.refresh()
    this.#reporter.start()
    await this.#management?.start()
    if (this.#state === 'closed') return
    await this.#jobs.start()
    void this.#saved.removeUnused()
  }

  async #end(): Promise<void> {
    this.#state = 'closed'
    this.#connection.stop()
    await this.#starting?.catch(() => undefined)
    this.#broadcaster.stop()
    this.#keys.stop()
    this.#management?.stop()
    // Releases the lease at once, so that another instance runs the shared jobs.
    const jobsStopped = this.#jobs.stop()
    const end = (connection: SocketConnection) => connection.end('goingAway')
    await Promise.all([forEachInTimeSlices(this.#sockets, end), this.#sessions.close()])
    await this.#inFlight.settled(this.#options.clock, DRAIN_WITHIN_MS)
    await Promise.all([this.#management?.close(), jobsStopped, this.#reporter.close()])
    await this.#usage.close()
    await this.#saved.close()
    await Promise.all([this.#options.storage.close(), this.#options.close()])
  }
}

function budgetOf({ maxLiveClients, maxHeldContextBytes }: ResolvedOptions): ClientBudget {
  return new ClientBudget({ clients: maxLiveClients, bytes: maxHeldContextBytes })
}

function pendingSocketsOf({ maxPendingSocketsPerAddress }: ResolvedOptions): PendingSockets {
  return new PendingSockets({ perAddress: maxPendingSocketsPerAddress })
}

function throttleOf({ clock, maxNewSocketsPerSecond }: ResolvedOptions): ConnectionThrottle {
  return new ConnectionThrottle({ clock, perSecond: maxNewSocketsPerSecond })
}

function createJobs(
  management: ConnectedManagementPlane<unknown> | undefined,
  options: ResolvedOptions & { readonly holder: string },
): Jobs {
  return new Jobs(management?.jobs ?? [], { ...options, lease: new JobLease(options) })
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

function closedError(): FlagError {
  return new FlagError('UNAVAILABLE', 'The server is closed.')
}
