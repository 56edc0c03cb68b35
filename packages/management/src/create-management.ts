import type { Webhook } from '@ff/protocol/management'
import type {
  ConnectedManagementPlane,
  Job,
  ManagementPlane,
  ServerServices,
} from '@ff/server/plane'
import {
  type Actor,
  type AuthenticateBearer,
  tokenAuthenticator,
  withAdminToken,
} from './access/actors.ts'
import { createManagementHandler } from './api/management-handler.ts'
import { templateOf } from './api/routes.ts'
import { createUseCases, type ManagementUseCases, type UseCases } from './api/use-cases.ts'
import { AuditWalks } from './audit/audit-walks.ts'
import { RecentEntries } from './audit/recent-entries.ts'
import { CredentialAttempts } from './authentication/credential-attempts.ts'
import { endedSessionsJob, LogInService } from './authentication/log-in-service.ts'
import { billingJob } from './billing/billing-job.ts'
import type { ChangeServices } from './changes/apply-change.ts'
import { PublishCheck } from './changes/publish-check.ts'
import type { UseCase } from './changes/use-case.ts'
import { ProjectStreams } from './events/project-streams.ts'
import { contextLimitsJob } from './insights/context-limits.ts'
import { type CheckedOptions, checkOptions, type ManagementOptions } from './management-options.ts'
import { retentionJob } from './organizations/retention.ts'
import { ObservedResults } from './preview/observed-results.ts'
import { PacedSlices } from './preview/paced-slices.ts'
import { Previews } from './preview/previews.ts'
import { PublishedFlagSets } from './preview/published-flag-sets.ts'
import { dueChangesJob } from './scheduling/due-changes.ts'
import { IssuedCredentials } from './secrets/issued-credentials.ts'
import { SecretBox } from './secrets/secret-box.ts'
import { randomSecretKeys } from './secrets/secret-keys.ts'
import { ensureProject, type ProjectSetUp } from './set-up/ensure-project.ts'
import { missingSummariesJob } from './summaries/missing-summaries.ts'
import { appointAdministrator } from './users/administrator.ts'
import { reportLostKeys } from './webhooks/lost-keys.ts'
import { DISPATCHER, oldDeliveriesJob, WebhookDispatcher } from './webhooks/webhook-dispatcher.ts'

/** Returns the use cases that act as `actor`, for calls in process. */
export type As = (actor: Actor) => ManagementUseCases & ProjectSetUp

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

function connect(options: CheckedOptions, server: ServerServices): ConnectedManagementPlane<As> {
  const { administrator, payments, passwordHasher, webhookSender, secretKeys } = options
  const { identifyUser, identityProvider } = options
  const { storage, changeFeed, recentEvents, instance, clock, logger, basePath } = server
  const { start, jobsAreOff } = server
  const publicUrl = options.publicUrl && options.publicUrl.replace(/\/$/, '') + basePath
  const { issued, credentialAttempts, logIn } = createAuthentication(options, server, publicUrl)
  const secretBox = secretKeys && new SecretBox(secretKeys)
  const projectStreams = new ProjectStreams(server)
  const useCases = createUseCases({
    ...{ logIn, issued, payments, webhookSender, secretBox, publicUrl },
    ...{ identifyUser, identityProvider, instance, projectStreams },
    auditWalks: new AuditWalks(clock),
    recentEntries: new RecentEntries({ recentEvents, logger }),
    ...evaluatingServices(server),
  })
  const changeServices: ChangeServices = {
    ...{ storage, changeFeed, recentEvents, instance, clock, logger },
    publishCheck: new PublishCheck(),
    // A closure, because the dispatcher is created later: it depends on the use cases.
    wakeWebhooks: () => webhooks.wake(),
  }
  const as: As = (actor) => bindUseCases(useCases, { services: changeServices, start, actor })
  const webhooks = new WebhookDispatcher({
    ...{ storage, clock, logger, webhookSender, secretBox, jobsAreOff },
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
      await reportLostKeys({ storage, logger, secretBox })
      if (!administrator || !passwordHasher) return
      await appointAdministrator({ storage, clock, passwordHasher }, administrator)
    },
    stop: () => projectStreams.stop(),
    async close() {
      await Promise.all([webhooks.stop(), logIn?.logins.close()])
    },
  }
}

/** Creates the services that evaluate observed contexts. They share compiled flag sets. */
function evaluatingServices(server: ServerServices) {
  const flagSets = new PublishedFlagSets(server.storage, new PacedSlices())
  return {
    previews: new Previews(server, flagSets),
    observedResults: new ObservedResults(flagSets),
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
  { findActor, payments, contextLimits }: CheckedOptions,
): readonly Job[] {
  const { storage, clock } = services
  return [
    dueChangesJob(services, findActor),
    billingJob(services, payments),
    oldDeliveriesJob(storage, clock),
    retentionJob(storage, clock),
    contextLimitsJob(storage, contextLimits),
    missingSummariesJob(storage),
  ]
}

/** Creates the services that recognize credentials. `logIn` is `undefined` if `users` is `false`. */
function createAuthentication(
  { users, passwordHasher, secretKeys = randomSecretKeys() }: CheckedOptions,
  { basePath, ...server }: ServerServices,
  publicUrl: string | undefined,
) {
  const issued = new IssuedCredentials(secretKeys)
  const credentialAttempts = new CredentialAttempts({ ...server, issued })
  const dependencies = { ...server, publicUrl, secretKeys, issued, credentialAttempts }
  const logIn =
    users === false || passwordHasher === undefined
      ? undefined
      : new LogInService({ ...dependencies, passwordHasher, cookiePath: basePath || '/' })
  return { issued, credentialAttempts, logIn }
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
