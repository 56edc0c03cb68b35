import { FlagError } from '@ff/core'
import { logInMethodsCodec } from '@ff/protocol/management'
import { assertLimit } from '@ff/server/plane'
import * as z from 'zod'
import type { AuthenticateBearer, FindActor, IdentifyUser } from './access/actors.ts'
import type { ContextLimits } from './insights/context-limits.ts'
import type { ReadDocsAsset } from './ports/docs-assets.ts'
import type { IdentityProvider } from './ports/identity-provider.ts'
import type { PasswordHasher } from './ports/password-hasher.ts'
import type { Payments } from './ports/payments.ts'
import type { WebhookSender } from './ports/webhook-sender.ts'
import { parseSecretKeys, type SecretKeys } from './secrets/secret-keys.ts'
import { type Administrator, resolveAdministrator } from './users/administrator.ts'

/**
 * The options of `createManagement`. The `createManagement` of `@ff/management/node` provides the
 * webhook sender and the password hasher.
 */
export interface ManagementOptions {
  /** Sends webhook messages. */
  readonly webhookSender: WebhookSender
  /** Hashes passwords; required unless `users` is `false`. */
  readonly passwordHasher?: PasswordHasher
  /**
   * Returns the actor of a bearer token; by default, the actor of an access token of the server.
   */
  readonly authenticateBearer?: AuthenticateBearer
  /**
   * Identifies users by the sessions of the host application, for requests with neither a bearer
   * token nor a session of this server. Also works if `users` is `false`. The host is responsible
   * for the protection of its sessions against forged requests; see `docs/access.md`.
   */
  readonly identifyUser?: IdentifyUser
  /**
   * Looks up the author of a scheduled change, an actor of `authenticateBearer` or `identifyUser`,
   * when the change is due. Without `findActor`, the change is applied with the role that the author had when the
   * change was scheduled.
   */
  readonly findActor?: FindActor
  /** The payment provider, such as `stripePayments` of `@ff/management/stripe`; none by default. */
  readonly payments?: Payments
  /**
   * If `false`, users cannot log in and the paths `/auth/*` do not exist, except `/auth/me` with
   * `identifyUser`.
   */
  readonly users?: false
  /**
   * A token with all permissions, for scripts and for emergencies: 16 to 512 visible ASCII
   * characters. Without it, only the tokens of `authenticateBearer` are valid.
   */
  readonly adminToken?: string | undefined
  /** The administrator of the installation. Role and password are set at each start. */
  readonly administrator?: Administrator
  /**
   * Enables log-in at an identity provider, such as `oidcProvider` of `@ff/management/oidc`, in
   * addition to passwords. Requires `publicUrl`.
   */
  readonly identityProvider?: IdentityProvider
  /** The scheme and host of the server for browsers; the server's `basePath` is appended. */
  readonly publicUrl?: string
  /** The limit of management requests per minute for each user and access token; 600 by default. */
  readonly managementRateLimit?: number
  /**
   * The maximum number of observed contexts of an environment; 200,000 by default. Beyond each of
   * these four limits, the contexts that were last seen the longest time ago are deleted.
   */
  readonly maxContextsPerEnvironment?: number
  /** The maximum estimated size of an environment's observed contexts, in bytes; 256 MiB by default. */
  readonly maxContextBytesPerEnvironment?: number
  /**
   * The maximum number of observed contexts of an organization whose plan has no
   * `max_observed_contexts`; 2,000,000 by default.
   */
  readonly maxContextsPerOrganization?: number
  /**
   * The maximum estimated size, in bytes, of the observed contexts of an organization whose plan has
   * no `max_observed_context_bytes`; 2.5 GiB by default.
   */
  readonly maxContextBytesPerOrganization?: number
  /**
   * The key that encrypts the secrets of webhooks and signs device cookies: 32 bytes in base64 or
   * as 64 hexadecimal digits. If there are several keys, the first is used for new secrets and
   * cookies. Without a key, requests that need a secret are refused, and each process signs device
   * cookies with a random key, so that every device is unknown after a restart.
   */
  readonly secretKey?: string | readonly string[]
  /**
   * Reads the files of Swagger UI for the API page at `/docs`. Without it, there is no page.
   * `@ff/management/node` reads them from the package `swagger-ui-dist`, if it is installed.
   */
  readonly readDocsAsset?: ReadDocsAsset
}

const DEFAULT_RATE_LIMIT = 600
const MEGABYTE = 1024 * 1024
const ADMIN_TOKEN = /^[\x21-\x7e]{16,512}$/

/** The validated options, with defaults. */
export interface CheckedOptions extends ManagementOptions {
  readonly administrator?: Administrator
  readonly managementRateLimit: number
  readonly contextLimits: ContextLimits
  readonly secretKeys: SecretKeys | undefined
}

/** Returns the options with defaults. Throws `INVALID_REQUEST` if an option is not valid. */
export function checkOptions(options: ManagementOptions): CheckedOptions {
  const { administrator, secretKey, managementRateLimit = DEFAULT_RATE_LIMIT } = options
  assertLimit('managementRateLimit', managementRateLimit, 1)
  assertAdminToken(options)
  assertUsers(options)
  assertPublicUrl(options)
  assertIdentityProvider(options)
  return {
    ...options,
    ...(administrator && { administrator: resolveAdministrator(administrator) }),
    managementRateLimit,
    contextLimits: contextLimitsOf(options),
    secretKeys: secretKey === undefined ? undefined : parseSecretKeys(secretKey),
  }
}

function contextLimitsOf({
  maxContextsPerEnvironment = 200_000,
  maxContextBytesPerEnvironment = 256 * MEGABYTE,
  maxContextsPerOrganization = 10 * 200_000,
  maxContextBytesPerOrganization = 10 * 256 * MEGABYTE,
}: ManagementOptions): ContextLimits {
  const limits = {
    ...{ maxContextsPerEnvironment, maxContextBytesPerEnvironment },
    ...{ maxContextsPerOrganization, maxContextBytesPerOrganization },
  }
  for (const [name, limit] of Object.entries(limits)) assertLimit(name, limit, 1)
  return {
    perEnvironment: { contexts: maxContextsPerEnvironment, bytes: maxContextBytesPerEnvironment },
    perOrganization: {
      contexts: maxContextsPerOrganization,
      bytes: maxContextBytesPerOrganization,
    },
  }
}

function assertAdminToken({ adminToken }: ManagementOptions): void {
  if (adminToken === undefined || ADMIN_TOKEN.test(adminToken)) return
  throw refused('adminToken must be 16 to 512 visible ASCII characters without spaces.')
}

function assertUsers({ users, administrator, passwordHasher }: ManagementOptions): void {
  if (users === false && administrator !== undefined)
    throw refused('administrator must not be set if users is false.')
  if (users !== false && passwordHasher === undefined) {
    throw refused('passwordHasher is required unless users is false. See @ff/management/node.')
  }
}

function assertPublicUrl({ identityProvider, publicUrl, users }: ManagementOptions): void {
  if (identityProvider !== undefined && (publicUrl === undefined || users === false)) {
    throw refused('identityProvider requires publicUrl, and users must not be false.')
  }
  if (publicUrl === undefined) return
  if (!/^https?:\/\/[^/?#@\s]+\/?$/.test(publicUrl) || !URL.canParse(publicUrl)) {
    throw refused(`publicUrl must look like "https://flags.example.com" (got "${publicUrl}").`)
  }
}

function assertIdentityProvider({ identityProvider }: ManagementOptions): void {
  if (identityProvider === undefined) return
  const methods = { password: true, oidc: { name: identityProvider.name } }
  if (z.safeDecode(logInMethodsCodec, methods).success) return
  throw refused('identityProvider.name must be a name of 1 to 256 characters for users.')
}

function refused(message: string): FlagError {
  return new FlagError('INVALID_REQUEST', message)
}
