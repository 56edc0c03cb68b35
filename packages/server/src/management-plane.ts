import type { Ports, RecentEvents } from '@ff/storage'
import type { Exchange, Reply } from './http/exchange.ts'
import type { Metrics } from './http/metrics.ts'
import type { Instance } from './instance.ts'
import type { Clock } from './runtime/clock.ts'
import type { Job } from './runtime/jobs.ts'
import type { Logger } from './runtime/logger.ts'

/** The services that a server provides to its management plane. */
export interface ServerServices extends Ports {
  readonly recentEvents?: RecentEvents | undefined
  readonly clock: Clock
  readonly logger: Logger
  readonly basePath: string
  /** `true` if a proxy in front of the server sets `X-Forwarded-*`. */
  readonly trustProxy: boolean
  readonly metrics: Metrics
  readonly instance: Instance
  /** Starts the server if it is not started, before a use case is called in process. */
  readonly start: () => Promise<void>
  /**
   * Resolves with `true` if nothing may be done for all instances with this store, such as sending
   * webhooks, because the store is a copy that is not active, or jobs are off in this server.
   * Rejects if the store cannot be read.
   */
  readonly jobsAreOff: () => Promise<boolean>
}

/** A management plane that runs in a server. `As` is the type of `FlagServer.as`. */
export interface ConnectedManagementPlane<As> {
  /**
   * Handles every path below the base path that the server does not handle itself. Never rejects.
   */
  readonly handle: (exchange: Exchange) => Promise<Reply>
  /**
   * Returns the template of a path for the log, such as `/projects/{projectId}/flags`; `undefined`
   * if the plane has no such path.
   */
  readonly templateOf: (path: string) => string | undefined
  /** Background jobs, which run from the start of the server until it is closed. */
  readonly jobs: readonly Job[]
  /** The use cases that `FlagServer.as` exposes. */
  readonly as: As
  /** Called after the store was migrated. If it rejects, the server does not start. */
  start(): Promise<void>
  /** Called when the server begins to close. Ends the replies that would otherwise stay open. */
  stop(): void
  /**
   * Called when no request is in progress, or when the server has stopped waiting for the last
   * requests. The store is closed afterwards.
   */
  close(): Promise<void>
}

/** A control plane that can be mounted in a server, such as the one of `@ff/management`. */
export interface ManagementPlane<As> {
  /**
   * Connects the plane to a server. Each server calls this method once, when the server is created.
   */
  connect(services: ServerServices): ConnectedManagementPlane<As>
}
