export { type FlagSnapshot, serializeSnapshot } from '@ff/protocol/snapshot'
export type {
  ClientStatus,
  FlagClient,
  FlagClientOf,
  FlagClientOptions,
  Readiness,
  Unsubscribe,
} from './client-interface.ts'
export type { Clock } from './connection/alarms.ts'
export type { ConnectionFailure, ConnectionState } from './connection/connection-state.ts'
export type { Transport } from './connection/ladder.ts'
export type { Lifecycle } from './connection/platform.ts'
export { createFlagClient } from './flag-client.ts'
export type {
  ClientSocket,
  ClientSocketConstructor,
  Fetch,
  FetchResponse,
} from './transports/transport.ts'
export type {
  ClientErrorCode,
  FlagDetail,
  ValueSource,
} from './values/flag-detail.ts'
export { type FlagCache, localStorageCache, memoryCache } from './values/value-cache.ts'
