import { FlagError } from '@ff/core'
import { MAX_HELD_CONTEXT_BYTES } from '@ff/protocol/sdk'
import { type Capabilities, memory, type RateLimiter } from '@ff/storage'
import { type AuthenticateBearer, type FindActor, tokenAuthenticator } from './access/actors.ts'
import { CredentialAttempts } from './access/credential-attempts.ts'
import type { PasswordHasher } from './access/passwords.ts'
import { SecretBox } from './access/secret-box.ts'
import { parseSecretKeys, randomSecretKeys, type SecretKeys } from './access/secret-keys.ts'
import { type Clock, systemClock } from './clock.ts'
import { Metrics } from './http/metrics.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { type Logger, silentLogger } from './logger.ts'
import { type Administrator, resolveAdministrator } from './management/administrator.ts'
import { AuditWalks } from './management/audit-walks.ts'
import type { Installation } from './management/management.ts'
import { createPeople } from './management/people.ts'
import { Soundness } from './management/soundness.ts'
import { ScryptPasswordHasher } from './node/password-hasher.ts'
import { NodeWebhookSender } from './node/webhook-sender.ts'
import type { Payments } from './payments.ts'

/** What a host may set; spread the adapters first: `{ ...sqlite({ path }), basePath: '/flags' }`. */
export interface FlagServerOptions extends Capabilities {
  /** The path under which the host mounts the server, such as `/flags`; by default the root. */
  readonly basePath?: string
  /** Who a bearer token belongs to; by default the server's own access tokens. */
  readonly authenticateBearer?: AuthenticateBearer
  /**
   * Looks up an actor of `authenticateBearer` when a change is due that the actor has scheduled.
   * Without it, such a change is made with the role that the actor had when it was scheduled.
   */
  readonly findActor?: FindActor
  /** Who takes the money for plans, such as `stripePayments` of `@ff/server/stripe`; nobody by default. */
  readonly payments?: Payments
  /** `false`: nobody logs in by this server; `/auth/*` does not exist. */
  readonly people?: false
  /** The installation's administrator, appointed at each start, with this password. */
  readonly administrator?: Administrator
  /** Where people may log in besides, such as `oidcProvider` of `@ff/server/oidc`; needs `publicUrl`. */
  readonly identityProvider?: IdentityProvider
  /** Where browsers find the server: scheme and host, to which `basePath` is added. */
  readonly publicUrl?: string
  /** What passwords are hashed with; scrypt by default. */
  readonly passwordHasher?: PasswordHasher
  /**
   * Whether every request comes through a proxy of yours that sets `X-Forwarded-For`, `-Proto` and
   * `-Host`. Clients are then told apart by what it says.
   */
  readonly trustProxy?: boolean
  /** Silent by default. */
  readonly logger?: Logger
  /** The system's by default. */
  readonly clock?: Clock
  /** Whether anybody may read `GET /metrics`; by default only a token of the role `platform`. */
  readonly metricsArePublic?: boolean
  /**
   * How many live clients are held: sockets, and sessions. Beyond that, clients of the organization
   * that has most give way to those of others, and more of its own are refused with 429.
   */
  readonly maxLiveClients?: number
  /**
   * Bytes of memory that the contexts of live clients may take together, 512 KiB or more; an SDK key
   * may take a quarter of it and an organization half. Beyond that as for `maxLiveClients`.
   */
  readonly maxHeldContextBytes?: number
  /**
   * How many sockets may begin with a valid `init` in a second before more are refused with
   * `retryAfter`; at one moment a quarter, and of one organization three quarters.
   */
  readonly maxNewSocketsPerSecond?: number
  /** Management requests a minute that each user and each access token may send; 600 by default. */
  readonly managementRateLimit?: number
  /**
   * How many sockets of one network address may be without a valid `init`; one more closes the
   * oldest of them. Of all addresses together 4,096.
   */
  readonly maxPendingSocketsPerAddress?: number
  /**
   * Encrypts secrets that must be read back, such as those of webhooks, and signs device cookies:
   * 32 bytes in base64 or as 64 hexadecimal digits. Of several keys, the first is used for new
   * secrets and cookies. Without a key, requests that need a secret are refused, and each process
   * signs device cookies with a random key, so that a restart makes every device unknown.
   */
  readonly secretKey?: string | readonly string[]
  /** `allowLoopback`: webhooks may lead to this machine, without TLS; for tests and development. */
  readonly webhooks?: { readonly allowLoopback?: boolean }
}

/** The options with everything decided. */
export interface ResolvedOptions extends Installation, Limits {
  readonly rateLimiter: RateLimiter
  readonly basePath: string
  readonly authenticateBearer: AuthenticateBearer
  readonly metrics: Metrics
  readonly metricsArePublic: boolean
  readonly administrator: Administrator | undefined
}

/** The options that are numbers: their defaults, and the least that each may be. */
const LIMITS = {
  maxLiveClients: { usual: 20_000, min: 1 },
  // The largest context, in two bytes for each unit, fits in the quarter of one SDK key.
  maxHeldContextBytes: { usual: 128 * 1024 * 1024, min: 4 * 2 * MAX_HELD_CONTEXT_BYTES },
  maxNewSocketsPerSecond: { usual: 500, min: 1 },
  maxPendingSocketsPerAddress: { usual: 64, min: 1 },
  managementRateLimit: { usual: 600, min: 1 },
} as const
type Limits = { readonly [Name in keyof typeof LIMITS]: number }

/** Fills in the defaults. Throws `INVALID_REQUEST` for an option that cannot be meant. */
export function resolveOptions(options: FlagServerOptions): ResolvedOptions {
  const clock = options.clock ?? systemClock
  const logger = options.logger ?? silentLogger
  const { storage, changeFeed, rateLimiter } = { ...memory(), ...options }
  const { secretKey } = options
  const secretKeys = secretKey === undefined ? undefined : parseSecretKeys(secretKey)
  return {
    storage,
    changeFeed,
    rateLimiter,
    basePath: resolveBasePath(options.basePath ?? ''),
    authenticateBearer: options.authenticateBearer ?? tokenAuthenticator(storage, clock, logger),
    findActor: options.findActor,
    logger,
    clock,
    ...resolvePeople(options, { storage, clock, logger, secretKeys }),
    credentialAttempts: new CredentialAttempts({ clock, trustProxy: options.trustProxy ?? false }),
    secretBox: secretKeys && new SecretBox(secretKeys),
    soundness: new Soundness(),
    auditWalks: new AuditWalks(clock),
    ...resolveWebhooks(options),
    ...resolveIdentityProvider(options),
    payments: options.payments,
    metrics: new Metrics(),
    metricsArePublic: options.metricsArePublic ?? false,
    ...resolveLimits(options),
  }
}

interface PeopleOptions extends Pick<Installation, 'storage' | 'clock' | 'logger'> {
  readonly secretKeys: SecretKeys | undefined
}

function resolvePeople(
  { people, administrator, passwordHasher, basePath = '', trustProxy = false }: FlagServerOptions,
  { secretKeys = randomSecretKeys(), ...parts }: PeopleOptions,
): Pick<ResolvedOptions, 'people' | 'administrator' | 'trustProxy'> {
  if (people === false && administrator !== undefined) {
    throw new FlagError('INVALID_REQUEST', 'administrator needs people, which is false.')
  }
  const hasher = passwordHasher ?? new ScryptPasswordHasher()
  const cookiePath = resolveBasePath(basePath) || '/'
  const resolved = { ...parts, secretKeys, passwordHasher: hasher, cookiePath }
  return {
    people: people === false ? null : createPeople(resolved),
    administrator: administrator && resolveAdministrator(administrator),
    trustProxy,
  }
}

function resolveIdentityProvider({
  identityProvider,
  publicUrl,
  people,
  basePath = '',
}: FlagServerOptions): Pick<Installation, 'identityProvider' | 'publicUrl'> {
  if (identityProvider !== undefined && (publicUrl === undefined || people === false)) {
    const message = 'identityProvider needs publicUrl, and people who log in.'
    throw new FlagError('INVALID_REQUEST', message)
  }
  if (publicUrl === undefined) return {}
  if (!/^https?:\/\/[^/?#@\s]+\/?$/.test(publicUrl) || !URL.canParse(publicUrl)) {
    const message = `publicUrl must look like "https://flags.example.com", not "${publicUrl}".`
    throw new FlagError('INVALID_REQUEST', message)
  }
  return {
    identityProvider,
    publicUrl: publicUrl.replace(/\/$/, '') + resolveBasePath(basePath),
  }
}

function resolveWebhooks({
  webhooks,
}: FlagServerOptions): Pick<Installation, 'webhookSender' | 'wakeWebhooks'> {
  const allowLoopback = webhooks?.allowLoopback ?? false
  return {
    webhookSender: new NodeWebhookSender({ allowLoopback }),
    // Nobody waits, until a server does.
    wakeWebhooks: () => undefined,
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
    if (!Number.isInteger(limit) || limit < min) {
      const expected = min === 1 ? 'a positive integer' : `an integer of at least ${min}`
      throw new FlagError('INVALID_REQUEST', `${name} must be ${expected}, not ${limit}.`)
    }
    return [name, limit]
  })
  return Object.fromEntries(limits)
}
