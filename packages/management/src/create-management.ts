import { FlagError } from '@ff/core'
import {
  assertLimit,
  type ConnectedManagementPlane,
  type Job,
  type ManagementPlane,
  type ServerServices,
} from '@ff/server/plane'
import {
  type Actor,
  type AuthenticateBearer,
  type FindActor,
  tokenAuthenticator,
} from './access/actors.ts'
import { createManagementHandler } from './api/management-handler.ts'
import { createUseCases, type UseCases } from './api/use-cases.ts'
import { AuditWalks } from './audit/audit-walks.ts'
import { CredentialAttempts } from './authentication/credential-attempts.ts'
import { endedSessionsJob, LogInService } from './authentication/log-in-service.ts'
import { billingJob } from './billing/billing-job.ts'
import type { ChangeServices } from './changes/apply-change.ts'
import { PublishCheck } from './changes/publish-check.ts'
import type { PermittedName, UseCase } from './changes/use-case.ts'
import { retentionJob } from './organizations/retention.ts'
import type { IdentityProvider } from './ports/identity-provider.ts'
import type { PasswordHasher } from './ports/password-hasher.ts'
import type { Payments } from './ports/payments.ts'
import type { WebhookSender } from './ports/webhook-sender.ts'
import { dueChangesJob } from './scheduling/due-changes.ts'
import { SecretBox } from './secrets/secret-box.ts'
import { parseSecretKeys, randomSecretKeys, type SecretKeys } from './secrets/secret-keys.ts'
import {
  type Administrator,
  appointAdministrator,
  resolveAdministrator,
} from './users/administrator.ts'
import { DISPATCHER, oldDeliveriesJob, WebhookDispatcher } from './webhooks/webhook-dispatcher.ts'

/** What a host may set. `createManagement` of `@ff/management/node` brings what needs Node. */
export interface ManagementOptions {
  /** Posts to webhooks. */
  readonly webhookSender: WebhookSender
  /** Hashes passwords; required unless `users` is `false`. */
  readonly passwordHasher?: PasswordHasher
  /** Returns the actor of a bearer token; by default that of the server's own access tokens. */
  readonly authenticateBearer?: AuthenticateBearer
  /**
   * Looks up an actor of `authenticateBearer` when a change is due that the actor has scheduled.
   * Without it, such a change is made with the role that the actor had when it was scheduled.
   */
  readonly findActor?: FindActor
  /** The payment provider, such as `stripePayments` of `@ff/management/stripe`; none by default. */
  readonly payments?: Payments
  /** `false`: users cannot log in; `/auth/*` does not exist. */
  readonly users?: false
  /** The administrator of the installation, appointed at each start, with this password. */
  readonly administrator?: Administrator
  /** A further way to log in, such as `oidcProvider` of `@ff/management/oidc`; needs `publicUrl`. */
  readonly identityProvider?: IdentityProvider
  /** Where browsers find the server: scheme and host, to which the server's `basePath` is added. */
  readonly publicUrl?: string
  /** Management requests a minute that each user and each access token may send; 600 by default. */
  readonly managementRateLimit?: number
  /**
   * Encrypts secrets that must be read back, such as those of webhooks, and signs device cookies:
   * 32 bytes in base64 or as 64 hexadecimal digits. Of several keys, the first is used for new
   * secrets and cookies. Without a key, requests that need a secret are refused, and each process
   * signs device cookies with a random key, so that a restart makes every device unknown.
   */
  readonly secretKey?: string | readonly string[]
}

/** The use cases for calls in process, by the names of their endpoints. */
export type ManagementUseCases = {
  readonly [N in PermittedName]: UseCases[N] extends UseCase<infer Input, infer Result>
    ? (input: Input) => Promise<Result>
    : never
}

/** Returns the use cases, for calls in process as `actor`. */
export type As = (actor: Actor) => ManagementUseCases

const DEFAULT_RATE_LIMIT = 600

/** The options, checked, with what does not depend on the server. */
interface CheckedOptions extends ManagementOptions {
  readonly administrator?: Administrator
  readonly managementRateLimit: number
  readonly secretKeys: SecretKeys | undefined
}

/**
 * Creates a management plane: REST endpoints for everything that changes configuration, log-in,
 * billing, audit and webhooks. Throws `INVALID_REQUEST` for an option that cannot be meant.
 *
 * @example
 * const flags = createFlagServer({ ...sqlite({ path }), management: createManagement() })
 */
export function createManagement(options: ManagementOptions): ManagementPlane<As> {
  const checked = checkOptions(options)
  return { connect: (services) => connect(checked, services) }
}

function checkOptions(options: ManagementOptions): CheckedOptions {
  const { administrator, secretKey, managementRateLimit = DEFAULT_RATE_LIMIT } = options
  assertLimit('managementRateLimit', managementRateLimit, 1)
  assertUsers(options)
  assertPublicUrl(options)
  return {
    ...options,
    ...(administrator && { administrator: resolveAdministrator(administrator) }),
    managementRateLimit,
    secretKeys: secretKey === undefined ? undefined : parseSecretKeys(secretKey),
  }
}

function assertUsers({ users, administrator, passwordHasher }: ManagementOptions): void {
  if (users === false && administrator !== undefined)
    throw refused('administrator needs users, which is false.')
  if (users !== false && passwordHasher === undefined) {
    throw refused('passwordHasher is required unless users is false; @ff/management/node has one.')
  }
}

function assertPublicUrl({ identityProvider, publicUrl, users }: ManagementOptions): void {
  if (identityProvider !== undefined && (publicUrl === undefined || users === false)) {
    throw refused('identityProvider needs publicUrl, and users who log in.')
  }
  if (publicUrl === undefined) return
  if (!/^https?:\/\/[^/?#@\s]+\/?$/.test(publicUrl) || !URL.canParse(publicUrl)) {
    throw refused(`publicUrl must look like "https://flags.example.com", not "${publicUrl}".`)
  }
}

function refused(message: string): FlagError {
  return new FlagError('INVALID_REQUEST', message)
}

function connect(options: CheckedOptions, server: ServerServices): ConnectedManagementPlane<As> {
  const { administrator, payments, passwordHasher, webhookSender, secretKeys } = options
  const { storage, changeFeed, clock, logger, basePath, trustProxy, rateLimiter } = server
  const publicUrl = options.publicUrl && options.publicUrl.replace(/\/$/, '') + basePath
  const credentialAttempts = new CredentialAttempts({ clock, trustProxy })
  const logIn = createLogIn(options, { ...server, publicUrl, credentialAttempts })
  const secretBox = secretKeys && new SecretBox(secretKeys)
  const auditWalks = new AuditWalks(clock)
  const useCases = createUseCases({
    ...{ logIn, payments, webhookSender, secretBox, auditWalks, publicUrl },
    identityProvider: options.identityProvider,
    instance: server.instance,
  })
  const changeServices: ChangeServices = {
    ...{ storage, changeFeed, clock, logger },
    publishCheck: new PublishCheck(),
    // The dispatcher changes webhooks by a use case, and changes wake the dispatcher.
    wakeWebhooks: () => webhooks.wake(),
  }
  const as: As = (actor) => bindUseCases(useCases, changeServices, actor)
  const webhooks = new WebhookDispatcher({
    ...{ storage, clock, logger, webhookSender, secretBox },
    switchOff: ({ id: webhookId, orgId, revision: expectedRevision }) => {
      const params = { orgId, webhookId }
      return as(DISPATCHER).updateWebhook({ params, body: { isActive: false }, expectedRevision })
    },
  })
  return {
    as,
    jobs: [endedSessionsJob(logIn), ...jobsOf(changeServices, options), webhooks],
    handle: createManagementHandler({
      ...{ useCases, changeServices, logIn, credentialAttempts, basePath, trustProxy },
      ...{ storage, clock, logger, rateLimiter, metrics: server.metrics },
      managementRateLimit: options.managementRateLimit,
      authenticateBearer: options.authenticateBearer ?? tokenAuthenticator(storage, clock, logger),
    }),
    async start() {
      if (!administrator || !passwordHasher) return
      await appointAdministrator({ storage, clock, passwordHasher }, administrator)
    },
    async close() {
      const sent = webhooks.stop()
      await logIn?.logins.close()
      await sent
    },
  }
}

/** Returns the jobs that every instance runs periodically. */
function jobsOf(
  services: ChangeServices,
  { findActor, payments }: ManagementOptions,
): readonly Job[] {
  const { storage, clock } = services
  return [
    dueChangesJob(services, findActor),
    billingJob(services, payments),
    oldDeliveriesJob(storage, clock),
    retentionJob(storage, clock),
  ]
}

interface LogInDependencies extends ServerServices {
  readonly publicUrl: string | undefined
  readonly credentialAttempts: CredentialAttempts
}

/** Returns `undefined` if users do not log in. */
function createLogIn(
  { users, passwordHasher, secretKeys = randomSecretKeys() }: CheckedOptions,
  { basePath, ...dependencies }: LogInDependencies,
): LogInService | undefined {
  if (users === false || passwordHasher === undefined) return undefined
  const cookiePath = basePath || '/'
  return new LogInService({ ...dependencies, passwordHasher, secretKeys, cookiePath })
}

function bindUseCases(
  useCases: UseCases,
  services: ChangeServices,
  actor: Actor,
): ManagementUseCases {
  const bound = Object.entries<UseCase<never, unknown>>(useCases).map(([name, useCase]) => {
    return [name, (input: never) => useCase(services, { actor }, input)]
  })
  return Object.fromEntries(bound)
}
