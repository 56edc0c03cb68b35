export type { EnvironmentScope } from './access/scope.ts'
export { extensions } from './evaluation/shared-compiler.ts'
export { createFlagServer, type FlagServer } from './flag-server.ts'
export type { Exchange, Reply } from './http/exchange.ts'
export type { Fetch, RequestSender } from './http/fetch.ts'
export type {
  EnvironmentIdRef,
  EnvironmentKeyRef,
  EnvironmentRef,
} from './in-process/environment-resolver.ts'
export type {
  FallbackErrorCode,
  FlagDetail,
  ValueLike,
} from './in-process/in-process-evaluator.ts'
export type { FlagUpdate, Message } from './live/flag-set-diff.ts'
export type { EndReason } from './live/live-session.ts'
export type { SocketConnection } from './live/socket-connection.ts'
export type { SocketLike } from './live/socket-like.ts'
export { type StandardSocket, toSocketLike } from './live/to-socket-like.ts'
export type * from './management-plane.ts'
export type { FlagServerOptions } from './options.ts'
export { type Cancel, type Clock, systemClock } from './runtime/clock.ts'
export type { JobsMode } from './runtime/job-lease.ts'
export { type LogFields, type Logger, silentLogger } from './runtime/logger.ts'
export { type PinoLike, pinoLogger } from './runtime/pino-logger.ts'
export type { OpenTelemetryApi } from './runtime/tracing.ts'
