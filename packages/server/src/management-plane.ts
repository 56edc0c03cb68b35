import type { Capabilities } from '@ff/storage'
import type { Exchange, Reply } from './http/exchange.ts'
import type { Metrics } from './http/metrics.ts'
import type { Instance } from './instance.ts'
import type { Clock } from './runtime/clock.ts'
import type { Job } from './runtime/jobs.ts'
import type { Logger } from './runtime/logger.ts'

/** What a server provides to its management plane. */
export interface ServerServices extends Required<Capabilities> {
  readonly clock: Clock
  readonly logger: Logger
  readonly basePath: string
  /** Whether a proxy in front writes `X-Forwarded-*`. */
  readonly trustProxy: boolean
  readonly metrics: Metrics
  readonly instance: Instance
}

/** A management plane that runs in a server. `As` is the type of `FlagServer.as`. */
export interface ConnectedManagementPlane<As> {
  /** Answers every path below the base path that is not the server's own. Never rejects. */
  readonly handle: (exchange: Exchange) => Promise<Reply>
  /** Run from the start of the server until its close. */
  readonly jobs: readonly Job[]
  readonly as: As
  /** Called once the store is up to date. If it fails, the server does not start. */
  start(): Promise<void>
  /** Called when no request is in progress any more, before the store is closed. */
  close(): Promise<void>
}

/** A control plane to be mounted in a server, such as that of `@ff/management`. */
export interface ManagementPlane<As> {
  /** Called once for each server, before anything else. */
  connect(services: ServerServices): ConnectedManagementPlane<As>
}
