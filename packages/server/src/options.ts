import { FlagError } from '@ff/core'
import { MAX_HELD_CONTEXT_BYTES } from '@ff/protocol/sdk'
import {
  type Capabilities,
  memory,
  type Ports,
  type RecentEvents,
  type Snapshots,
} from '@ff/storage'
import type { ManagementPlane } from './management-plane.ts'
import { type Clock, systemClock } from './runtime/clock.ts'
import type { JobsMode } from './runtime/job-lease.ts'
import { consoleLogger, type Logger } from './runtime/logger.ts'
import { StoreClock } from './runtime/store-clock.ts'
import { type OpenTelemetryApi, traceTransactions } from './runtime/tracing.ts'

/**
 * The options of a server. Spread the adapters first: `{ ...sqlite({ path }), basePath: '/flags'
 * }`.
 */
export interface FlagServerOptions<As = unknown> extends Capabilities {
  /** The path under which the host mounts the server, such as `/flags`. The default is the root. */
  readonly basePath?: string
  /**
   * The control plane, such as `createManagement()` of `@ff/management`. Without one, the server
   * only evaluates.
   */
  readonly management?: ManagementPlane<As>
  /**
   * Where the server saves the flag sets in use and the hashes of the SDK keys, such as
   * `snapshotFolder({ path })` of `@ff/storage/snapshots`. The server then also starts while the
   * store is unavailable. By default, nothing is saved.
   */
  readonly snapshots?: Snapshots
  /**
   * `true` if every request passes through your own proxy, which sets `X-Forwarded-For`, `-Proto`
   * and `-Host`. The server then takes the address, scheme and host of clients from these headers.
   * The default is `false`.
   */
  readonly trustProxy?: boolean
  /** The logger. By default, warnings and errors are written to the console. */
  readonly logger?: Logger
  /**
   * The module `@opentelemetry/api` of the host, for spans of requests and transactions. The default
   * is none.
   */
  readonly openTelemetry?: OpenTelemetryApi
  /**
   * The clock. The default is the clock of the platform, set to the time of the store if several
   * machines share it.
   */
  readonly clock?: Clock
  /**
   * Whether this server runs background jobs. By default, it does (`on`), unless `copyStore` or
   * `restoreBackup` has created the store and it was not activated. `off`: it does not, as for a copy
   * that another program has made. `activate`: it activates the store first.
   */
  readonly jobs?: JobsMode
  /**
   * `true` if `GET /metrics` needs no token. By default, it needs a token with the role `platform`,
   * and is refused if there is no management plane.
   */
  readonly metricsArePublic?: boolean
  /**
   * `false` to refuse requests of OpenFeature's remote evaluation protocol (OFREP). The default is
   * `true`.
   */
  readonly ofrep?: boolean
  /**
   * The maximum number of live clients: WebSockets with a valid `init`, pending polls, and event streams. When
   * this number is reached, clients of the organization with the most live clients are ended to
   * make room for clients of other organizations. New clients of the SDK key with the most live
   * clients in that organization are refused with 429.
   */
  readonly maxLiveClients?: number
  /**
   * The maximum memory, in bytes, for the contexts of all live clients; at least 512 KiB. One SDK
   * key may use a quarter of it, and one organization half. When this memory is used up, clients
   * are ended or refused as for `maxLiveClients`.
   */
  readonly maxHeldContextBytes?: number
  /**
   * The maximum memory, in bytes, for the compiled flag sets of all environments; at least 1 MiB. It
   * is compared with an estimate. When it is used up, the flag sets that were unused for the longest
   * time are dropped, and loaded again when they are needed. The default is a quarter of the limit
   * of the heap beyond 128 MiB, and 256 MiB on platforms that do not report this limit.
   */
  readonly maxFlagSetBytes?: number
  /**
   * The maximum number of sockets that can start a session with a valid `init` per second. At most
   * a quarter of this number can start at the same time. One organization can use at most three
   * quarters of both limits. Further sockets are refused with `retryAfter`.
   */
  readonly maxNewSocketsPerSecond?: number
  /**
   * The maximum number of sockets without a valid `init` from one network address. If another such
   * socket is opened, the oldest of them is closed. The limit for all addresses together is 4,096.
   */
  readonly maxPendingSocketsPerAddress?: number
}

/** The options with all defaults filled in. */
export interface ResolvedOptions extends Ports, Limits {
  readonly recentEvents: RecentEvents | undefined
  /** Closes connections that `storage.close` does not close. */
  readonly close: () => Promise<void>
  readonly basePath: string
  readonly snapshots: Snapshots | undefined
  readonly trustProxy: boolean
  readonly logger: Logger
  readonly openTelemetry: OpenTelemetryApi | undefined
  readonly clock: Clock
  /** The default clock if it is set to the time of the store. */
  readonly storeClock: StoreClock | undefined
  readonly jobs: JobsMode
  readonly metricsArePublic: boolean
  readonly ofrep: boolean
}

/** The default and the minimum of each numeric option. */
const LIMITS = {
  maxLiveClients: { usual: 20_000, min: 1 },
  // The largest context, at two bytes for each UTF-16 unit, must fit in the quarter of one SDK key.
  maxHeldContextBytes: { usual: 128 * 1024 * 1024, min: 4 * 2 * MAX_HELD_CONTEXT_BYTES },
  maxFlagSetBytes: { usual: usualFlagSetBytes(), min: 1024 * 1024 },
  maxNewSocketsPerSecond: { usual: 500, min: 1 },
  maxPendingSocketsPerAddress: { usual: 64, min: 1 },
} as const
type Limits = { readonly [Name in keyof typeof LIMITS]: number }

/** Returns a quarter of the heap that remains for flag sets and garbage, in bytes. */
function usualFlagSetBytes(): number {
  const statistics = globalThis.process?.getBuiltinModule?.('node:v8').getHeapStatistics()
  if (statistics === undefined) return 256 * 1024 * 1024
  const forAllElse = 128 * 1024 * 1024
  const quarter = Math.floor((statistics.heap_size_limit - forAllElse) / 4)
  return Math.max(16 * 1024 * 1024, quarter)
}

/** Fills in the defaults. Throws `INVALID_REQUEST` if an option is invalid. */
export function resolveOptions(options: FlagServerOptions): ResolvedOptions {
  const { storage, changeFeed, rateLimiter, instanceReports } = { ...memory(), ...options }
  const { openTelemetry, storeTime, logger = consoleLogger } = options
  const storeClock =
    options.clock === undefined && storeTime !== undefined
      ? new StoreClock({ clock: systemClock, storeTime, logger })
      : undefined
  return {
    storage: openTelemetry === undefined ? storage : traceTransactions(storage, openTelemetry),
    changeFeed,
    rateLimiter,
    instanceReports,
    recentEvents: options.recentEvents,
    close: options.close ?? (async () => undefined),
    basePath: resolveBasePath(options.basePath ?? ''),
    snapshots: options.snapshots,
    trustProxy: options.trustProxy ?? false,
    logger,
    openTelemetry,
    clock: options.clock ?? storeClock ?? systemClock,
    storeClock,
    jobs: resolveJobs(options.jobs ?? 'on'),
    metricsArePublic: options.metricsArePublic ?? false,
    ofrep: options.ofrep ?? true,
    ...resolveLimits(options),
  }
}

function resolveJobs(jobs: JobsMode): JobsMode {
  if (['on', 'off', 'activate'].includes(jobs)) return jobs
  const message = `\`jobs\` must be "on", "off" or "activate" (got "${jobs}").`
  throw new FlagError('INVALID_REQUEST', message)
}

function resolveBasePath(basePath: string): string {
  const trimmed = basePath.endsWith('/') ? basePath.slice(0, -1) : basePath
  if (trimmed !== '' && !/^(\/[^/?#\s]+)+$/.test(trimmed)) {
    const message = `\`basePath\` must be a path such as "/flags" (got "${basePath}").`
    throw new FlagError('INVALID_REQUEST', message)
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

/** Throws `INVALID_REQUEST` if an option is not an integer of at least `min`. */
export function assertLimit(name: string, limit: number, min: number): void {
  if (Number.isInteger(limit) && limit >= min) return
  const expected = min === 1 ? 'a positive integer' : `an integer of at least ${min}`
  throw new FlagError('INVALID_REQUEST', `\`${name}\` must be ${expected} (got ${limit}).`)
}
