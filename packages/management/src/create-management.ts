import { FlagError } from '@ff/core'
import { logInMethodsCodec, type Webhook } from '@ff/protocol/management'
import {
  assertLimit,
  type ConnectedManagementPlane,
  type Job,
  type ManagementPlane,
  type ServerServices,
} from '@ff/server/plane'
import * as z from 'zod'
import {
  type Actor,
  type AuthenticateBearer,
  type FindActor,
  type IdentifyUser,
  tokenAuthenticator,
  withAdminToken,
} from './access/actors.ts'
import { createManagementHandler } from './api/management-handler.ts'
import { templateOf } from './api/routes.ts'
import { createUseCases, type ManagementUseCases, type UseCases } from './api/use-cases.ts'
import { AuditWalks } from './audit/audit-walks.ts'
import { CredentialAttempts } from './authentication/credential-attempts.ts'
import { endedSessionsJob, LogInService } from './authentication/log-in-service.ts'
import { billingJob } from './billing/billing-job.ts'
import type { ChangeServices } from './changes/apply-change.ts'
import { PublishCheck } from './changes/publish-check.ts'
import type { UseCase } from './changes/use-case.ts'
import { ProjectStreams } from './events/project-streams.ts'
import { retentionJob } from './organizations/retention.ts'
import type { ReadDocsAsset } from './ports/docs-assets.ts'
import type { IdentityProvider } from './ports/identity-provider.ts'
import type { PasswordHasher } from './ports/password-hasher.ts'
import type { Payments } from './ports/payments.ts'
import type { WebhookSender } from './ports/webhook-sender.ts'
import { Previews } from './preview/previews.ts'
import { dueChangesJob } from './scheduling/due-changes.ts'
import { SecretBox } from './secrets/secret-box.ts'
import { parseSecretKeys, randomSecretKeys, type SecretKeys } from './secrets/secret-keys.ts'
import { ensureProject, type ProjectSetUp } from './set-up/ensure-project.ts'
import { missingSummariesJob } from './summaries/missing-summaries.ts'
import {
  type Administrator,
  appointAdministrator,
  resolveAdministrator,
} from './users/administrator.ts'
import { DISPATCHER, oldDeliveriesJob, WebhookDispatcher } from './webhooks/webhook-dispatcher.ts'

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

/** Returns the use cases that act as `actor`, for calls in process. */
export type As = (actor: Actor) => ManagementUseCases & ProjectSetUp

const DEFAULT_RATE_LIMIT = 600
const ADMIN_TOKEN = /^[\x21-\x7e]{16,512}$/

/** The validated options, with defaults. */
interface CheckedOptions extends ManagementOptions {
  readonly administrator?: Administrator
  readonly managementRateLimit: number
  readonly secretKeys: SecretKeys | undefined
}

/**
 * Creates a management plane: REST endpoints for configuration, log-in, billing, audit and
 * webhooks. Throws `INVALID_REQUEST` if an option is not valid.
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
  assertAdminToken(options)
  assertUsers(options)
  assertPublicUrl(options)
  assertIdentityProvider(options)
  return {
    ...options,
    ...(administrator && { administrator: resolveAdministrator(administrator) }),
    managementRateLimit,
    secretKeys: secretKey === undefined ? undefined : parseSecretKeys(secretKey),
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

function connect(options: CheckedOptions, server: ServerServices): ConnectedManagementPlane<As> {
  const { administrator, payments, passwordHasher, webhookSender, secretKeys } = options
  const { identifyUser, identityProvider } = options
  const { storage, changeFeed, recentEvents, clock, logger, basePath, start } = server
  const publicUrl = options.publicUrl && options.publicUrl.replace(/\/$/, '') + basePath
  const credentialAttempts = new CredentialAttempts(server)
  const logIn = createLogIn(options, { ...server, publicUrl, credentialAttempts })
  const secretBox = secretKeys && new SecretBox(secretKeys)
  const auditWalks = new AuditWalks(clock)
  const projectStreams = new ProjectStreams(server)
  const useCases = createUseCases({
    ...{ logIn, payments, webhookSender, secretBox, auditWalks, recentEvents, publicUrl },
    ...{ identifyUser, identityProvider, instance: server.instance, projectStreams },
    previews: new Previews(server),
  })
  const changeServices: ChangeServices = {
    ...{ storage, changeFeed, recentEvents, clock, logger },
    publishCheck: new PublishCheck(),
    // A closure, because the dispatcher is created later: it depends on the use cases.
    wakeWebhooks: () => webhooks.wake(),
  }
  const as: As = (actor) => bindUseCases(useCases, { services: changeServices, start, actor })
  const webhooks = new WebhookDispatcher({
    ...{ storage, clock, logger, webhookSender, secretBox },
    switchOff: (webhook) => switchOff(useCases, changeServices, webhook),
  })
  return {
    as,
    templateOf,
    jobs: [endedSessionsJob(logIn), ...jobsOf(changeServices, options), webhooks],
    handle: createManagementHandler({
      ...server,
      ...{ useCases, changeServices, logIn, credentialAttempts, identifyUser },
      managementRateLimit: options.managementRateLimit,
      readDocsAsset: options.readDocsAsset,
      authenticateBearer: authenticatorOf(options, server),
    }),
    async start() {
      await projectStreams.start()
      if (!administrator || !passwordHasher) return
      await appointAdministrator({ storage, clock, passwordHasher }, administrator)
    },
    stop: () => projectStreams.stop(),
    async close() {
      const sent = webhooks.stop()
      await logIn?.logins.close()
      await sent
    },
  }
}

/** Switches a webhook off that does not accept its deliveries. */
function switchOff(
  { updateWebhook }: UseCases,
  services: ChangeServices,
  { id: webhookId, orgId, revision: expectedRevision }: Webhook,
) {
  const input = { params: { orgId, webhookId }, body: { isActive: false }, expectedRevision }
  return updateWebhook(services, { actor: DISPATCHER }, input)
}

/** Returns the jobs that change records, apart from those of log-in and webhooks. */
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
    missingSummariesJob(storage),
  ]
}

interface LogInDependencies extends ServerServices {
  readonly publicUrl: string | undefined
  readonly credentialAttempts: CredentialAttempts
}

/** Creates the log-in service. Returns `undefined` if `users` is `false`. */
function createLogIn(
  { users, passwordHasher, secretKeys = randomSecretKeys() }: CheckedOptions,
  { basePath, ...dependencies }: LogInDependencies,
): LogInService | undefined {
  if (users === false || passwordHasher === undefined) return undefined
  const cookiePath = basePath || '/'
  return new LogInService({ ...dependencies, passwordHasher, secretKeys, cookiePath })
}

function authenticatorOf(
  { adminToken, authenticateBearer }: ManagementOptions,
  { storage, clock, logger }: ServerServices,
): AuthenticateBearer {
  const next = authenticateBearer ?? tokenAuthenticator(storage, clock, logger)
  return withAdminToken(adminToken, next)
}

interface Binding {
  readonly actor: Actor
  readonly services: ChangeServices
  /** Called before each use case. */
  readonly start: () => Promise<void>
}

function bindUseCases(
  useCases: UseCases,
  { actor, services, start }: Binding,
): ManagementUseCases & ProjectSetUp {
  const entries = Object.entries<UseCase<never, unknown>>(useCases).map(([name, useCase]) => {
    const call = async (input: never) => {
      await start()
      return useCase(services, { actor }, input)
    }
    return [name, call]
  })
  const bound: ManagementUseCases = Object.fromEntries(entries)
  const tools = { actor, services, useCases: bound }
  return {
    ...bound,
    async ensureProject(needed) {
      await start()
      return ensureProject(tools, needed)
    },
  }
}
