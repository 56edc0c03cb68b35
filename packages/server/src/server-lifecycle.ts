import { FlagError } from '@ff/core'
import type { RequestLimiter } from './access/rate-limit.ts'
import type { SdkKeyVerifier } from './access/sdk-keys.ts'
import type { InstanceReporter } from './convergence/instance-reporter.ts'
import type { FlagSetCache } from './evaluation/flag-set-cache.ts'
import { UsedEnvironments } from './evaluation/used-environments.ts'
import type { InProcessEvaluator } from './in-process/in-process-evaluator.ts'
import type { Broadcaster } from './live/broadcaster.ts'
import type { OpenSockets } from './live/open-sockets.ts'
import type { SessionRegistry } from './live/session-registry.ts'
import type { ConnectedManagementPlane } from './management-plane.ts'
import type { ResolvedOptions } from './options.ts'
import type { InFlight } from './runtime/in-flight.ts'
import type { Jobs } from './runtime/jobs.ts'
import type { SavedState } from './snapshots/saved-state.ts'
import { StoreConnection } from './snapshots/store-connection.ts'
import type { UsageRecorder } from './usage/usage-recorder.ts'

/** The parts of a server that are started or stopped. */
interface LifecycleParts {
  readonly options: ResolvedOptions
  readonly keys: SdkKeyVerifier
  readonly limiter: RequestLimiter
  readonly evaluator: InProcessEvaluator
  readonly broadcaster: Broadcaster
  readonly reporter: InstanceReporter
  readonly management: ConnectedManagementPlane<unknown> | undefined
  readonly jobs: Jobs
  readonly sockets: OpenSockets
  readonly sessions: SessionRegistry
  readonly inFlight: InFlight
  readonly usage: UsageRecorder
  readonly saved: SavedState
  readonly cache: FlagSetCache
}

/** The longest time that a stopping server waits for requests in progress. */
const DRAIN_WITHIN_MS = 5000

/** Starts and stops the parts of a server in order. */
export class ServerLifecycle {
  /** The connection of the server to its store. */
  readonly connection: StoreConnection
  readonly #parts: LifecycleParts
  /** Absent if no state is saved. */
  readonly #used: UsedEnvironments | undefined
  #state: 'new' | 'started' | 'closed' = 'new'
  #starting: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(parts: LifecycleParts) {
    const { options, keys, limiter, jobs } = parts
    this.#parts = parts
    this.#used = options.snapshots && new UsedEnvironments({ ...parts, clock: options.clock })
    this.connection = new StoreConnection({
      ...{ ...options, keys, jobs },
      restore: () => this.#restore(),
      connect: () => this.#connect(),
      // The rate limiter is often a part of the store.
      onRestored: () => limiter.assumeFailure(),
    })
  }

  /** `true` if the server is started and not closed. */
  get isReady(): boolean {
    return this.#state === 'started'
  }

  /** `true` as soon as `close` was called. */
  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** Starts the server. See `FlagServer.start`. */
  start(): Promise<void> {
    if (this.isClosed) {
      return Promise.reject(new FlagError('UNAVAILABLE', 'The server is closed.'))
    }
    this.#starting ??= this.#begin().catch((error: unknown) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  /** Stops the server. See `FlagServer.close`. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #begin(): Promise<void> {
    await this.#parts.options.snapshots?.open()
    await this.connection.start()
    if (this.#state !== 'new') return
    this.#state = 'started'
    void this.#used?.start()
  }

  /** Restores the saved state. Returns `true` if there is one. */
  async #restore(): Promise<boolean> {
    const { keys, evaluator } = this.#parts
    if (!(await keys.restore())) return false
    await evaluator.restore()
    return true
  }

  /** Connects the server to its store. Can be called again after a failure. */
  async #connect(): Promise<void> {
    const { options, broadcaster, keys, reporter, management, jobs, saved } = this.#parts
    await options.storage.migrate()
    await options.storeClock?.start()
    await broadcaster.start()
    await keys.refresh()
    void broadcaster.refresh()
    reporter.start()
    await management?.start()
    if (this.isClosed) return
    await jobs.start()
    void saved.removeUnused()
  }

  async #end(): Promise<void> {
    const { options, broadcaster, keys, reporter, management, jobs, saved } = this.#parts
    const { sockets, sessions, inFlight, usage } = this.#parts
    this.#state = 'closed'
    this.connection.stop()
    this.#used?.stop()
    options.storeClock?.stop()
    await this.#starting?.catch(() => undefined)
    broadcaster.stop()
    keys.stop()
    management?.stop()
    // Releases the lease at once, so that another instance runs the shared jobs.
    const jobsStopped = jobs.stop()
    await Promise.all([sockets.end(), sessions.close()])
    await inFlight.settled(options.clock, DRAIN_WITHIN_MS)
    await Promise.all([management?.close(), jobsStopped, reporter.close()])
    await usage.close()
    await saved.close()
    await Promise.all([options.storage.close(), options.close()])
  }
}
