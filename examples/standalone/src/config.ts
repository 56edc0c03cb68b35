import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import type { Administrator } from '@ff/management'
import type { JobsMode } from '@ff/server'
import { administratorOf, adminTokenOf, type OidcConfig, oidcOf } from './config/access-config.ts'
import { ConfigError } from './config/config-error.ts'
import { type DatabaseConfig, databaseOf, redisUrlOf } from './config/database-config.ts'
import { choiceOf, switchOf, textOf, type Variables } from './config/variables.ts'

/** The settings of the server. */
export interface Config {
  /** The address to listen on. */
  readonly host: string
  /** The port to listen on; 0 for any free port. */
  readonly port: number
  /** The directory of the data file. It is created if it does not exist, and not used with `database`. */
  readonly dataDir: string
  /** The PostgreSQL database; `undefined` if a data file contains the data. */
  readonly database: DatabaseConfig | undefined
  /** The directory of the saved flag sets; `undefined` to save none. It is created if it does not exist. */
  readonly snapshotDir: string | undefined
  /** The URL of the Redis server; `undefined` for none. Requires `database`. */
  readonly redisUrl: string | undefined
  /** The number of processes that serve requests; 1 for a single process. */
  readonly workers: number
  /** The administrator's token. If `undefined`, the first start creates one. */
  readonly adminToken: string | undefined
  /** The credentials with which the administrator logs in. */
  readonly administrator: Administrator | undefined
  /** The path below which clients reach the server, such as `/ff`; empty for the root. */
  readonly basePath: string
  /** The time for which a connection without a request stays open, in milliseconds. */
  readonly keepAliveMs: number
  /** Whether the server runs background jobs; see the option `jobs` of `createFlagServer`. */
  readonly jobs: JobsMode
  /** `true` if all requests come through a proxy that sets `X-Forwarded-*`. */
  readonly trustProxy: boolean
  /** The limits that differ from the server's defaults. */
  readonly limits: Limits
  /** `true` if `GET /metrics` requires no token. */
  readonly metricsArePublic: boolean
  /** The keys that encrypt stored secrets, newest first. If empty, the first start creates one. */
  readonly secretKeys: readonly string[]
  /** `true` if webhooks may send to this machine. */
  readonly webhooksAllowLoopback: boolean
  /** `true` if the dashboard is served at `/dashboard`. */
  readonly dashboard: boolean
  /** `true` if a start evaluates the demo shop's flags for invented users, for one minute. */
  readonly demoTraffic: boolean
  /** The settings of Stripe; `undefined` if no payment provider is used. */
  readonly stripe: StripeConfig | undefined
  /** The scheme and host under which browsers reach this server. */
  readonly publicUrl: string | undefined
  /** The identity provider; `undefined` for none. Requires `publicUrl`. */
  readonly oidc: OidcConfig | undefined
  readonly log: LogConfig
}

/** The settings of the log. */
export interface LogConfig {
  /** The lowest level that is written; `silent` for none. */
  readonly level: (typeof LOG_LEVELS)[number]
  /** The format of lines; `undefined` for `pretty` on a terminal and `json` elsewhere. */
  readonly format: (typeof LOG_FORMATS)[number] | undefined
}

/** The settings of Stripe. */
export interface StripeConfig {
  readonly secretKey: string
  readonly webhookSecret: string
  /** The default return URL after a checkout. */
  readonly returnUrl: string | undefined
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
const LOG_FORMATS = ['json', 'pretty'] as const
const MAX_WORKERS = 64
/** A path whose segments are neither empty nor `.` or `..`, and need no escape sequences. */
const BASE_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/
/** The form of a secret key: 32 bytes in base64 or as hexadecimal digits. */
export const SECRET_KEY = /^(?:[0-9a-f]{64}|[A-Za-z0-9+/_-]{43}=?)$/i

const MEGABYTE = 1024 * 1024

interface LimitVariable {
  readonly name: keyof Variables
  readonly min: number
  /** The number that a value of 1 means; 1 by default. */
  readonly unit?: number
}

/** The limits that can be set, with their environment variables, minimum values and units. */
const LIMITS = {
  managementRateLimit: { name: 'FF_MANAGEMENT_RATE_LIMIT', min: 1 },
  maxContextsPerEnvironment: { name: 'FF_MAX_CONTEXTS_PER_ENVIRONMENT', min: 1 },
  maxContextBytesPerEnvironment: {
    name: 'FF_MAX_CONTEXT_MB_PER_ENVIRONMENT',
    min: 1,
    unit: MEGABYTE,
  },
  maxContextsPerOrganization: { name: 'FF_MAX_CONTEXTS_PER_ORGANIZATION', min: 1 },
  maxContextBytesPerOrganization: {
    name: 'FF_MAX_CONTEXT_MB_PER_ORGANIZATION',
    min: 1,
    unit: MEGABYTE,
  },
  maxFlagSetBytes: { name: 'FF_MAX_FLAG_SET_MB', min: 1, unit: MEGABYTE },
  maxHeldContextBytes: { name: 'FF_MAX_HELD_CONTEXT_BYTES', min: 512 * 1024 },
  maxPendingSocketsPerAddress: { name: 'FF_MAX_PENDING_SOCKETS_PER_ADDRESS', min: 1 },
} as const satisfies Readonly<Record<string, LimitVariable>>
type Limits = { readonly [Option in keyof typeof LIMITS]?: number }

/** Returns the settings in environment variables. Throws `ConfigError` if a variable is invalid. */
export function readConfig(env: Variables): Config {
  const workers = workersOf(env['FF_WORKERS'])
  return {
    host: textOf(env['HOST']) ?? '127.0.0.1',
    port: portOf(env['PORT']),
    dataDir: resolve(textOf(env['FF_DATA_DIR']) ?? './data'),
    database: databaseOf(env, workers),
    snapshotDir: snapshotDirOf(env['FF_SNAPSHOT_DIR']),
    redisUrl: redisUrlOf(env),
    workers,
    adminToken: adminTokenOf(env['FF_ADMIN_TOKEN']),
    administrator: administratorOf(env['FF_ADMIN_EMAIL'], env['FF_ADMIN_PASSWORD']),
    basePath: basePathOf(env['FF_BASE_PATH']),
    keepAliveMs: 1000 * keepAliveOf(env['FF_KEEP_ALIVE_S']),
    jobs: jobsOf(env['FF_JOBS']),
    trustProxy: switchOf('FF_TRUST_PROXY', env['FF_TRUST_PROXY']),
    limits: limitsOf(env),
    metricsArePublic: switchOf('FF_METRICS_PUBLIC', env['FF_METRICS_PUBLIC']),
    secretKeys: secretKeysOf(env['FF_SECRET_KEY']),
    webhooksAllowLoopback: switchOf(
      'FF_WEBHOOKS_ALLOW_LOOPBACK',
      env['FF_WEBHOOKS_ALLOW_LOOPBACK'],
    ),
    dashboard: switchOf('FF_DASHBOARD', env['FF_DASHBOARD'], true),
    demoTraffic: switchOf('FF_DEMO_TRAFFIC', env['FF_DEMO_TRAFFIC']),
    stripe: stripeOf(env),
    publicUrl: publicUrlOf(env['FF_PUBLIC_URL']),
    oidc: oidcOf(env),
    log: logOf(env),
  }
}

function snapshotDirOf(value: string | undefined): string | undefined {
  const path = textOf(value)
  return path === undefined ? undefined : resolve(path)
}

function portOf(value: string | undefined): number {
  const text = textOf(value) ?? '4400'
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new ConfigError(
      `PORT must be a number from 0 to 65535 (0 selects a free port), not "${text}".`,
    )
  }
  return port
}

function basePathOf(value: string | undefined): string {
  const path = (textOf(value) ?? '').replace(/\/$/, '')
  if (path === '' || BASE_PATH.test(path)) return path
  throw new ConfigError(
    `FF_BASE_PATH must be a path such as /ff, of letters, digits, ".", "_", "~" and "-" between slashes, not "${value}".`,
  )
}

function keepAliveOf(value: string | undefined): number {
  const text = textOf(value) ?? '76'
  const seconds = Number(text)
  if (/^\d{1,4}$/.test(text) && seconds >= 1 && seconds <= 3600) return seconds
  throw new ConfigError(`FF_KEEP_ALIVE_S must be a number from 1 to 3600, not "${value}".`)
}

/** Returns `activate` if this installation is the one that acts. It then also activates a copy. */
function jobsOf(value: string | undefined): JobsMode {
  if (textOf(value) === undefined) return 'on'
  return switchOf('FF_JOBS', value) ? 'activate' : 'off'
}

function workersOf(value: string | undefined): number {
  const text = textOf(value)?.toLowerCase() ?? '1'
  if (text === 'auto') return Math.min(availableParallelism(), MAX_WORKERS)
  const workers = Number(text)
  if (/^\d{1,2}$/.test(text) && workers >= 1 && workers <= MAX_WORKERS) return workers
  throw new ConfigError(
    `FF_WORKERS must be a number from 1 to ${MAX_WORKERS}, or auto for one per core, not "${value}".`,
  )
}

function limitsOf(env: Variables): Limits {
  const limits: Record<string, number> = {}
  for (const [option, { name, min, unit = 1 }] of Object.entries<LimitVariable>(LIMITS)) {
    const text = textOf(env[name])
    if (text === undefined) continue
    const limit = Number(text)
    if (!/^\d+$/.test(text) || limit < min) {
      throw new ConfigError(`${name} must be an integer of at least ${min}, not "${text}".`)
    }
    const most = Math.floor(Number.MAX_SAFE_INTEGER / unit)
    if (limit > most) throw new ConfigError(`${name} must be at most ${most}, not "${text}".`)
    limits[option] = limit * unit
  }
  return limits
}

function stripeOf(env: Variables): StripeConfig | undefined {
  const secretKey = textOf(env['FF_STRIPE_SECRET_KEY'])
  const webhookSecret = textOf(env['FF_STRIPE_WEBHOOK_SECRET'])
  const returnUrl = textOf(env['FF_STRIPE_RETURN_URL'])
  if (secretKey === undefined && webhookSecret === undefined) return undefined
  if (secretKey === undefined || !/^[sr]k_\w+$/.test(secretKey)) {
    throw new ConfigError('FF_STRIPE_SECRET_KEY must be a Stripe secret key (sk_… or rk_…).')
  }
  if (webhookSecret === undefined || !/^whsec_\S+$/.test(webhookSecret)) {
    throw new ConfigError('FF_STRIPE_WEBHOOK_SECRET must be a Stripe signing secret (whsec_…).')
  }
  if (returnUrl !== undefined && !/^https?:\/\/\S+$/.test(returnUrl)) {
    throw new ConfigError('FF_STRIPE_RETURN_URL must be an http or https URL.')
  }
  return { secretKey, webhookSecret, returnUrl }
}

function publicUrlOf(value: string | undefined): string | undefined {
  const url = textOf(value)
  if (url === undefined || (/^https?:\/\/[^/?#@\s]+\/?$/.test(url) && URL.canParse(url))) return url
  const shown = url.replace(/^(\w*:?\/*).*@/s, '$1…@')
  throw new ConfigError(
    `FF_PUBLIC_URL must be the scheme and host under which browsers reach this server, such as https://flags.example.com, not "${shown}".`,
  )
}

function logOf(env: Variables): LogConfig {
  return {
    level: choiceOf('FF_LOG_LEVEL', env, LOG_LEVELS) ?? 'info',
    format: choiceOf('FF_LOG_FORMAT', env, LOG_FORMATS),
  }
}

function secretKeysOf(value: string | undefined): readonly string[] {
  const keys = textOf(value)?.split(/[\s,]+/) ?? []
  if (keys.every((key) => SECRET_KEY.test(key))) return keys
  throw new ConfigError(
    'FF_SECRET_KEY must be 32 bytes in base64 or as 64 hexadecimal digits (create them with "openssl rand -base64 32"), or several such keys separated by commas.',
  )
}
