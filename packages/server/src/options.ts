import { FlagError } from '@ff/core'
import { MAX_HELD_CONTEXT_BYTES } from '@ff/protocol/sdk'
import { type Capabilities, memory } from '@ff/storage'
import type { ManagementPlane } from './management-plane.ts'
import { type Clock, systemClock } from './runtime/clock.ts'
import { type Logger, silentLogger } from './runtime/logger.ts'

/** The options of a server; spread the adapters first: `{ ...sqlite({ path }), basePath: '/flags' }`. */
export interface FlagServerOptions<As = unknown> extends Capabilities {
  /** The path under which the host mounts the server, such as `/flags`; by default the root. */
  readonly basePath?: string
  /** The control plane, such as `createManagement()` of `@ff/management`; without it, the server only evaluates. */
  readonly management?: ManagementPlane<As>
  /**
   * Whether every request comes through a proxy of yours that sets `X-Forwarded-For`, `-Proto` and
   * `-Host`. Clients are then distinguished by these headers.
   */
  readonly trustProxy?: boolean
  /** Silent by default. */
  readonly logger?: Logger
  /** The system's by default. */
  readonly clock?: Clock
  /** Whether `GET /metrics` needs no token; by default it needs one of the role `platform`. */
  readonly metricsArePublic?: boolean
  /**
   * How many live clients there may be: sockets, and sessions. Beyond that, clients of the organization
   * that has most are ended for those of others, and more of its own are refused with 429.
   */
  readonly maxLiveClients?: number
  /**
   * Bytes of memory that the contexts of live clients may take together, 512 KiB or more; an SDK key
   * may take a quarter of it and an organization half. Beyond that as for `maxLiveClients`.
   */
  readonly maxHeldContextBytes?: number
  /**
   * How many sockets may begin with a valid `init` in a second before more are refused with
   * `retryAfter`; at once a quarter, and of one organization three quarters.
   */
  readonly maxNewSocketsPerSecond?: number
  /**
   * How many sockets of one network address may be without a valid `init`; one more closes the
   * oldest of them. Of all addresses together 4,096.
   */
  readonly maxPendingSocketsPerAddress?: number
}

/** The options with all defaults filled in. */
export interface ResolvedOptions extends Required<Capabilities>, Limits {
  readonly basePath: string
  readonly trustProxy: boolean
  readonly logger: Logger
  readonly clock: Clock
  readonly metricsArePublic: boolean
}

/** The options that are numbers: their defaults and their minimums. */
const LIMITS = {
  maxLiveClients: { usual: 20_000, min: 1 },
  // The largest context, in two bytes for each unit, fits in the quarter of one SDK key.
  maxHeldContextBytes: { usual: 128 * 1024 * 1024, min: 4 * 2 * MAX_HELD_CONTEXT_BYTES },
  maxNewSocketsPerSecond: { usual: 500, min: 1 },
  maxPendingSocketsPerAddress: { usual: 64, min: 1 },
} as const
type Limits = { readonly [Name in keyof typeof LIMITS]: number }

/** Fills in the defaults. Throws `INVALID_REQUEST` for an invalid option. */
export function resolveOptions(options: FlagServerOptions): ResolvedOptions {
  const { storage, changeFeed, rateLimiter } = { ...memory(), ...options }
  return {
    storage,
    changeFeed,
    rateLimiter,
    basePath: resolveBasePath(options.basePath ?? ''),
    trustProxy: options.trustProxy ?? false,
    logger: options.logger ?? silentLogger,
    clock: options.clock ?? systemClock,
    metricsArePublic: options.metricsArePublic ?? false,
    ...resolveLimits(options),
  }
}

function resolveBasePath(basePath: string): string {
  const trimmed = basePath.endsWith('/') ? basePath.slice(0, -1) : basePath
  if (trimmed !== '' && !/^(\/[^/?#\s]+)+$/.test(trimmed)) {
    throw new FlagError('INVALID_REQUEST', `basePath must look like "/flags", not "${basePath}".`)
  }
  return trimmed
}

function resolveLimits(options: FlagServerOptions): Limits {
  const limits = Object.entries(LIMITS).map(([name, { usual, min }]) => {
    const limit = options[name as keyof Limits] ?? usual
    assertLimit(name, limit, min)
    return [name, limit]
  })
  return Object.fromEntries(limits)
}

/** Throws `INVALID_REQUEST` unless an option is an integer of at least `min`. */
export function assertLimit(name: string, limit: number, min: number): void {
  if (Number.isInteger(limit) && limit >= min) return
  const expected = min === 1 ? 'a positive integer' : `an integer of at least ${min}`
  throw new FlagError('INVALID_REQUEST', `${name} must be ${expected}, not ${limit}.`)
}
