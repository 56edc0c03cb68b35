import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { isFlagError } from '@ff/core'
import type { Administrator } from '@ff/management'
import { postgres } from '@ff/storage/postgres'
import { redis } from '@ff/storage/redis'

/** All environment variables that the server reads. */
export const VARIABLES = [
  'DATABASE_LISTEN_URL',
  'DATABASE_URL',
  'HOST',
  'PORT',
  'REDIS_URL',
  'FF_ADMIN_EMAIL',
  'FF_ADMIN_PASSWORD',
  'FF_ADMIN_TOKEN',
  'FF_DASHBOARD',
  'FF_DATABASE_CONNECTIONS',
  'FF_DATA_DIR',
  'FF_DEMO_TRAFFIC',
  'FF_LOG_FORMAT',
  'FF_LOG_LEVEL',
  'FF_MANAGEMENT_RATE_LIMIT',
  'FF_MAX_HELD_CONTEXT_BYTES',
  'FF_MAX_PENDING_SOCKETS_PER_ADDRESS',
  'FF_METRICS_PUBLIC',
  'FF_OIDC_CLIENT_ID',
  'FF_OIDC_CLIENT_SECRET',
  'FF_OIDC_ISSUER',
  'FF_OIDC_NAME',
  'FF_PUBLIC_URL',
  'FF_SECRET_KEY',
  'FF_SNAPSHOT_DIR',
  'FF_STRIPE_RETURN_URL',
  'FF_STRIPE_SECRET_KEY',
  'FF_STRIPE_WEBHOOK_SECRET',
  'FF_TRUST_PROXY',
  'FF_WEBHOOKS_ALLOW_LOOPBACK',
  'FF_WORKERS',
] as const

/** The values of the variables. A variable that is not in the list is a compile error. */
type Variables = { readonly [Name in (typeof VARIABLES)[number]]?: string | undefined }

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

/** The settings of a PostgreSQL database. */
export interface DatabaseConfig {
  readonly url: string
  /** The URL of the connection that listens for changes; `false` for none. The default is `url`. */
  readonly listenUrl?: string | false
  /** The maximum number of connections of all processes of this server. */
  readonly connections: number
}

/** The settings of the log. */
export interface LogConfig {
  /** The lowest level that is written; `silent` for none. */
  readonly level: (typeof LOG_LEVELS)[number]
  /** The format of lines; `undefined` for `pretty` on a terminal and `json` elsewhere. */
  readonly format: (typeof LOG_FORMATS)[number] | undefined
}

/** The settings of an OpenID Connect provider. */
export interface OidcConfig {
  readonly issuer: string
  /** The name that users see; `undefined` for the host of the issuer. */
  readonly name: string | undefined
  readonly clientId: string
  readonly clientSecret: string
}

/** The settings of Stripe. */
export interface StripeConfig {
  readonly secretKey: string
  readonly webhookSecret: string
  /** The default return URL after a checkout. */
  readonly returnUrl: string | undefined
}

/**
 * An error in the command line, an environment variable or the data folder, with a message for the
 * operator.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
const LOG_FORMATS = ['json', 'pretty'] as const
const MAX_WORKERS = 64
/** Connections that read, write and listen for changes. */
const MIN_CONNECTIONS_OF_WORKER = 3
const MAX_CONNECTIONS = 10_000
/** Two servers with these connections fit into PostgreSQL's default of 100. */
const DEFAULT_CONNECTIONS = 40
const MIN_TOKEN_LENGTH = 16
const MIN_PASSWORD_LENGTH = 12
const MAX_PASSWORD_LENGTH = 256
/** The form of a secret key: 32 bytes in base64 or as hexadecimal digits. */
export const SECRET_KEY = /^(?:[0-9a-f]{64}|[A-Za-z0-9+/_-]{43}=?)$/i

/** The limits that can be set, with their environment variables and minimum values. */
const LIMITS = {
  managementRateLimit: { name: 'FF_MANAGEMENT_RATE_LIMIT', min: 1 },
  maxHeldContextBytes: { name: 'FF_MAX_HELD_CONTEXT_BYTES', min: 512 * 1024 },
  maxPendingSocketsPerAddress: { name: 'FF_MAX_PENDING_SOCKETS_PER_ADDRESS', min: 1 },
} as const
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

function textOf(value: string | undefined): string | undefined {
  const text = value?.trim()
  return text === '' ? undefined : text
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

function workersOf(value: string | undefined): number {
  const text = textOf(value)?.toLowerCase() ?? '1'
  if (text === 'auto') return Math.min(availableParallelism(), MAX_WORKERS)
  const workers = Number(text)
  if (/^\d{1,2}$/.test(text) && workers >= 1 && workers <= MAX_WORKERS) return workers
  throw new ConfigError(
    `FF_WORKERS must be a number from 1 to ${MAX_WORKERS}, or auto for one per core, not "${value}".`,
  )
}

function databaseOf(env: Variables, workers: number): DatabaseConfig | undefined {
  const url = textOf(env['DATABASE_URL'])
  const connections = connectionsOf(env['FF_DATABASE_CONNECTIONS'], workers)
  const listenUrl = listenUrlOf(env['DATABASE_LISTEN_URL'])
  if (listenUrl === undefined) return url === undefined ? undefined : { url, connections }
  if (url === undefined) throw new ConfigError('DATABASE_LISTEN_URL requires DATABASE_URL.')
  return { url, listenUrl, connections }
}

function listenUrlOf(value: string | undefined): string | false | undefined {
  const url = textOf(value)
  if (url === undefined) return undefined
  if (url.toLowerCase() === 'none') return false
  checkUrl('DATABASE_LISTEN_URL', () => postgres({ url, listenUrl: false }))
  return url
}

function connectionsOf(value: string | undefined, workers: number): number {
  const text = textOf(value)
  const min = MIN_CONNECTIONS_OF_WORKER * workers
  const connections = text === undefined ? Math.max(DEFAULT_CONNECTIONS, min) : Number(text)
  if (/^\d{1,5}$/.test(text ?? '0') && connections >= min && connections <= MAX_CONNECTIONS) {
    return connections
  }
  throw new ConfigError(
    `FF_DATABASE_CONNECTIONS must be an integer from ${min} (${MIN_CONNECTIONS_OF_WORKER} for each of FF_WORKERS) to ${MAX_CONNECTIONS}, not "${text}".`,
  )
}

function redisUrlOf(env: Variables): string | undefined {
  const url = textOf(env['REDIS_URL'])
  if (url === undefined) return undefined
  if (textOf(env['DATABASE_URL']) === undefined) {
    throw new ConfigError(
      'REDIS_URL requires DATABASE_URL: servers can share Redis only if they share a PostgreSQL database.',
    )
  }
  checkUrl('REDIS_URL', () => redis({ url }))
  return url
}

/** Throws `ConfigError` if an adapter, which opens no connection yet, refuses its URL. */
function checkUrl(name: keyof Variables, createAdapter: () => unknown): void {
  try {
    createAdapter()
  } catch (error) {
    if (!isFlagError(error)) throw error
    throw new ConfigError(error.message.replace('`url`', name))
  }
}

function limitsOf(env: Variables): Limits {
  const limits: Record<string, number> = {}
  for (const [option, { name, min }] of Object.entries(LIMITS)) {
    const text = textOf(env[name])
    if (text === undefined) continue
    const limit = Number(text)
    if (!/^\d{1,15}$/.test(text) || limit < min) {
      throw new ConfigError(`${name} must be an integer of at least ${min}, not "${text}".`)
    }
    limits[option] = limit
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
  throw new ConfigError(
    `FF_PUBLIC_URL must be the scheme and host under which browsers reach this server, such as https://flags.example.com, not "${url}".`,
  )
}

function oidcOf(env: Variables): OidcConfig | undefined {
  const issuer = textOf(env['FF_OIDC_ISSUER'])
  const name = textOf(env['FF_OIDC_NAME'])
  const clientId = textOf(env['FF_OIDC_CLIENT_ID'])
  const clientSecret = textOf(env['FF_OIDC_CLIENT_SECRET'])
  if ((issuer ?? clientId ?? clientSecret) === undefined) return undefined
  if (issuer === undefined || !URL.canParse(issuer) || !isSafe(new URL(issuer))) {
    throw new ConfigError('FF_OIDC_ISSUER must be the https URL of an identity provider.')
  }
  if (clientId === undefined) throw missing('FF_OIDC_CLIENT_ID')
  if (clientSecret === undefined) throw missing('FF_OIDC_CLIENT_SECRET')
  if (textOf(env['FF_PUBLIC_URL']) === undefined) throw missing('FF_PUBLIC_URL')
  return { issuer, name, clientId, clientSecret }
}

function logOf(env: Variables): LogConfig {
  return {
    level: choiceOf('FF_LOG_LEVEL', env, LOG_LEVELS) ?? 'info',
    format: choiceOf('FF_LOG_FORMAT', env, LOG_FORMATS),
  }
}

/** Returns the value of a variable with fixed choices; `undefined` if it is not set. */
function choiceOf<Choice extends string>(
  name: keyof Variables,
  env: Variables,
  choices: readonly Choice[],
): Choice | undefined {
  const text = textOf(env[name])?.toLowerCase()
  const choice = choices.find((each) => each === text)
  if (text === undefined || choice !== undefined) return choice
  throw new ConfigError(`${name} must be one of ${choices.join(', ')}, not "${env[name]}".`)
}

function missing(name: string): ConfigError {
  return new ConfigError(
    `${name} must be set together with the other variables of the identity provider.`,
  )
}

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** Returns `true` for a loopback host name, for which TLS is not required. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

/** Returns the value of a boolean variable, or the default if it is not set. */
function switchOf(name: string, value: string | undefined, byDefault = false): boolean {
  const text = textOf(value)?.toLowerCase() ?? String(byDefault)
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw new ConfigError(`${name} must be 1, true, 0 or false, not "${value}".`)
}

function secretKeysOf(value: string | undefined): readonly string[] {
  const keys = textOf(value)?.split(/[\s,]+/) ?? []
  if (keys.every((key) => SECRET_KEY.test(key))) return keys
  throw new ConfigError(
    'FF_SECRET_KEY must be 32 bytes in base64 or as 64 hexadecimal digits (create them with "openssl rand -base64 32"), or several such keys separated by commas.',
  )
}

function adminTokenOf(value: string | undefined): string | undefined {
  const token = textOf(value)
  if (token === undefined) return undefined
  if (token.length < MIN_TOKEN_LENGTH || /\s/.test(token)) {
    throw new ConfigError(
      `FF_ADMIN_TOKEN must have at least ${MIN_TOKEN_LENGTH} characters and no spaces. Create one with "openssl rand -hex 32".`,
    )
  }
  return token
}

/** Returns the administrator. Checks the values here so that messages can name the variables. */
function administratorOf(
  address: string | undefined,
  password: string | undefined,
): Administrator | undefined {
  const email = textOf(address)
  if (email === undefined && !password) return undefined
  if (email === undefined || !/^[^@\s]+@[^@\s]+$/.test(email)) {
    throw new ConfigError('FF_ADMIN_EMAIL must be the e-mail address of the administrator.')
  }
  const length = [...(password ?? '').normalize('NFKC')].length
  if (password === undefined || length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH) {
    throw new ConfigError(
      `FF_ADMIN_PASSWORD must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters if FF_ADMIN_EMAIL is set.`,
    )
  }
  return { email, password }
}
