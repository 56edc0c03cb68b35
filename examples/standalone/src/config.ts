import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import type { Administrator } from '@ff/management'

export interface Config {
  readonly host: string
  readonly port: number
  /** Where the database lives; created when it is not there. */
  readonly dataDir: string
  /** How many processes answer requests; with one there is no other process. */
  readonly workers: number
  /** The administrator's token, when the operator sets it; else one is made at the first start. */
  readonly adminToken: string | undefined
  /** Who logs in as the administrator. */
  readonly administrator: Administrator | undefined
  /** Whether every request comes through a proxy that sets `X-Forwarded-*`. */
  readonly trustProxy: boolean
  /** The limits that the operator sets; the server has defaults for the others. */
  readonly limits: Limits
  /** Whether `GET /metrics` asks for no token. */
  readonly metricsArePublic: boolean
  /** Under which secrets that must be read back are kept, the newest first; none: one is made. */
  readonly secretKeys: readonly string[]
  /** Whether webhooks may lead to this machine. */
  readonly webhooksAllowLoopback: boolean
  /** Who takes the money, when somebody does. */
  readonly stripe: StripeConfig | undefined
  /** Where browsers find this server. */
  readonly publicUrl: string | undefined
  /** Where people log in besides, when anywhere; never without `publicUrl`. */
  readonly oidc: OidcConfig | undefined
}

export interface OidcConfig {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}

export interface StripeConfig {
  readonly secretKey: string
  readonly webhookSecret: string
  readonly returnUrl: string | undefined
}

/** An environment variable that cannot be used, in words for the operator. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const MAX_WORKERS = 64
const MIN_TOKEN_LENGTH = 16
const MIN_PASSWORD_LENGTH = 12
const MAX_PASSWORD_LENGTH = 256
const SECRET_KEY = /^(?:[0-9a-f]{64}|[A-Za-z0-9+/_-]{43}=?)$/i

/** The options of the server that are limits, and the variables that set them. */
const LIMITS = {
  managementRateLimit: { name: 'FF_MANAGEMENT_RATE_LIMIT', min: 1 },
  maxHeldContextBytes: { name: 'FF_MAX_HELD_CONTEXT_BYTES', min: 512 * 1024 },
  maxPendingSocketsPerAddress: { name: 'FF_MAX_PENDING_SOCKETS_PER_ADDRESS', min: 1 },
} as const
type Limits = { readonly [Option in keyof typeof LIMITS]?: number }

/** What the program is asked to do; without a word it serves. Throws `ConfigError` for any other. */
export function readCommand(words: readonly string[]): 'serve' | 'verify' {
  if (words.length === 0) return 'serve'
  if (words.length === 1 && words[0] === 'verify') return 'verify'
  throw new ConfigError(
    `There is no command "${words.join(' ')}"; "verify" looks for damage, and no command starts the server.`,
  )
}

/** Reads the settings from environment variables; throws `ConfigError` naming the one that is wrong. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  return {
    host: textOf(env['HOST']) ?? '127.0.0.1',
    port: portOf(env['PORT']),
    dataDir: resolve(textOf(env['FF_DATA_DIR']) ?? './data'),
    workers: workersOf(env['FF_WORKERS']),
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
    stripe: stripeOf(env),
    publicUrl: publicUrlOf(env['FF_PUBLIC_URL']),
    oidc: oidcOf(env),
  }
}

function textOf(value: string | undefined): string | undefined {
  const text = value?.trim()
  return text === '' ? undefined : text
}

function portOf(value: string | undefined): number {
  const text = textOf(value) ?? '4400'
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new ConfigError(
      `PORT must be a number from 0 to 65535 (0 picks a free one), not "${text}".`,
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
    `FF_WORKERS must be a number from 1 to ${MAX_WORKERS}, or auto for one to each core, not "${value}".`,
  )
}

function limitsOf(env: Readonly<Record<string, string | undefined>>): Limits {
  const limits: Record<string, number> = {}
  for (const [option, { name, min }] of Object.entries(LIMITS)) {
    const text = textOf(env[name])
    if (text === undefined) continue
    const limit = Number(text)
    if (!/^\d{1,15}$/.test(text) || limit < min) {
      throw new ConfigError(`${name} must be a whole number of at least ${min}, not "${text}".`)
    }
    limits[option] = limit
  }
  return limits
}

function stripeOf(env: Readonly<Record<string, string | undefined>>): StripeConfig | undefined {
  const secretKey = textOf(env['FF_STRIPE_SECRET_KEY'])
  const webhookSecret = textOf(env['FF_STRIPE_WEBHOOK_SECRET'])
  const returnUrl = textOf(env['FF_STRIPE_RETURN_URL'])
  if (secretKey === undefined && webhookSecret === undefined) return undefined
  if (secretKey === undefined || !/^[sr]k_\w+$/.test(secretKey)) {
    throw new ConfigError('FF_STRIPE_SECRET_KEY must be a secret key of Stripe (sk_… or rk_…).')
  }
  if (webhookSecret === undefined || !/^whsec_\S+$/.test(webhookSecret)) {
    throw new ConfigError('FF_STRIPE_WEBHOOK_SECRET must be a signing secret of Stripe (whsec_…).')
  }
  if (returnUrl !== undefined && !/^https?:\/\/\S+$/.test(returnUrl)) {
    throw new ConfigError('FF_STRIPE_RETURN_URL must be an http or https address.')
  }
  return { secretKey, webhookSecret, returnUrl }
}

function publicUrlOf(value: string | undefined): string | undefined {
  const url = textOf(value)
  if (url === undefined || (/^https?:\/\/[^/?#@\s]+\/?$/.test(url) && URL.canParse(url))) return url
  throw new ConfigError(
    `FF_PUBLIC_URL must be the scheme and host by which browsers find this server, such as https://flags.example.com, not "${url}".`,
  )
}

function oidcOf(env: Readonly<Record<string, string | undefined>>): OidcConfig | undefined {
  const issuer = textOf(env['FF_OIDC_ISSUER'])
  const clientId = textOf(env['FF_OIDC_CLIENT_ID'])
  const clientSecret = textOf(env['FF_OIDC_CLIENT_SECRET'])
  if ((issuer ?? clientId ?? clientSecret) === undefined) return undefined
  if (issuer === undefined || !URL.canParse(issuer) || !isSafe(new URL(issuer))) {
    throw new ConfigError('FF_OIDC_ISSUER must be the https address of an identity provider.')
  }
  if (clientId === undefined) throw missing('FF_OIDC_CLIENT_ID')
  if (clientSecret === undefined) throw missing('FF_OIDC_CLIENT_SECRET')
  if (textOf(env['FF_PUBLIC_URL']) === undefined) throw missing('FF_PUBLIC_URL')
  return { issuer, clientId, clientSecret }
}

function missing(name: string): ConfigError {
  return new ConfigError(`${name} must be set where FF_OIDC_ISSUER is.`)
}

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** Where nobody listens on the way: development needs no TLS. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

/** Off unless it is switched on. */
function switchOf(name: string, value: string | undefined): boolean {
  const text = textOf(value)?.toLowerCase() ?? 'false'
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw new ConfigError(`${name} must be 1, true, 0 or false, not "${value}".`)
}

function secretKeysOf(value: string | undefined): readonly string[] {
  const keys = textOf(value)?.split(/[\s,]+/) ?? []
  if (keys.every((key) => SECRET_KEY.test(key))) return keys
  throw new ConfigError(
    'FF_SECRET_KEY must be 32 bytes in base64 or as 64 hexadecimal digits ("openssl rand -base64 32" makes them), or several of these with commas between.',
  )
}

function adminTokenOf(value: string | undefined): string | undefined {
  const token = textOf(value)
  if (token === undefined) return undefined
  if (token.length < MIN_TOKEN_LENGTH || /\s/.test(token)) {
    throw new ConfigError(
      `FF_ADMIN_TOKEN must have at least ${MIN_TOKEN_LENGTH} characters and no spaces; "openssl rand -hex 32" makes a good one.`,
    )
  }
  return token
}

/** Whether they can be used is said here by the names of the variables; the server knows others. */
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
      `FF_ADMIN_PASSWORD must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters; FF_ADMIN_EMAIL needs it.`,
    )
  }
  return { email, password }
}
