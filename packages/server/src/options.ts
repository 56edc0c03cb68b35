import { FlagError } from '@ff/core'
import {
  type Capabilities,
  type ChangeFeed,
  memory,
  type RateLimiter,
  type Storage,
} from '@ff/storage'
import { type AuthenticateBearer, tokenAuthenticator } from './access/actors.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Logger, silentLogger } from './logger.ts'

/** What a host may set; spread the adapters first: `{ ...sqlite({ path }), basePath: '/flags' }`. */
export interface FlagServerOptions extends Capabilities {
  /** The path under which the host mounts the server, such as `/flags`; by default the root. */
  readonly basePath?: string
  /** Who a bearer token belongs to; by default the server's own access tokens. */
  readonly authenticateBearer?: AuthenticateBearer
  /** Silent by default. */
  readonly logger?: Logger
  /** The system's by default. */
  readonly clock?: Clock
  /** How many live clients are held before more are refused with 429: sockets, and sessions. */
  readonly maxLiveClients?: number
}

/** The options with everything decided. */
export interface ResolvedOptions {
  readonly storage: Storage
  readonly changeFeed: ChangeFeed
  readonly rateLimiter: RateLimiter
  readonly basePath: string
  readonly authenticateBearer: AuthenticateBearer
  readonly logger: Logger
  readonly clock: Clock
  readonly maxLiveClients: number
}

const DEFAULT_MAX_LIVE_CLIENTS = 20_000

/** Fills in the defaults. Throws `INVALID_REQUEST` for an option that cannot be meant. */
export function resolveOptions(options: FlagServerOptions): ResolvedOptions {
  const clock = options.clock ?? systemClock
  const logger = options.logger ?? silentLogger
  const { storage, changeFeed, rateLimiter } = { ...memory(), ...options }
  return {
    storage,
    changeFeed,
    rateLimiter,
    basePath: resolveBasePath(options.basePath ?? ''),
    authenticateBearer: options.authenticateBearer ?? tokenAuthenticator(storage, clock, logger),
    logger,
    clock,
    maxLiveClients: resolveCount(
      'maxLiveClients',
      options.maxLiveClients ?? DEFAULT_MAX_LIVE_CLIENTS,
    ),
  }
}

function resolveBasePath(basePath: string): string {
  const trimmed = basePath.endsWith('/') ? basePath.slice(0, -1) : basePath
  if (trimmed !== '' && !/^(\/[^/?#\s]+)+$/.test(trimmed)) {
    throw new FlagError('INVALID_REQUEST', `basePath must look like "/flags", not "${basePath}".`)
  }
  return trimmed
}

function resolveCount(name: string, count: number): number {
  if (!Number.isInteger(count) || count < 1) {
    throw new FlagError('INVALID_REQUEST', `${name} must be a positive integer, not ${count}.`)
  }
  return count
}
