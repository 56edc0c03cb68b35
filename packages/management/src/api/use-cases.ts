import type { Instance } from '@ff/server/plane'
import type { IdentifyUser } from '../access/actors.ts'
import { createAuditExportUseCases, createAuditLogUseCases } from '../audit/audit-log.ts'
import { createAuditVerificationUseCases } from '../audit/audit-verification.ts'
import type { AuditWalks } from '../audit/audit-walks.ts'
import type { RecentEntries } from '../audit/recent-entries.ts'
import type { LogInService } from '../authentication/log-in-service.ts'
import { createCheckoutUseCases } from '../billing/checkout.ts'
import { invoiceUseCases } from '../billing/invoices.ts'
import { createPaymentEventUseCases } from '../billing/payment-events.ts'
import { planUseCases } from '../billing/plans.ts'
import { subscriptionUseCases } from '../billing/subscriptions.ts'
import type { EndpointUseCases, PermittedName, UseCase } from '../changes/use-case.ts'
import { createProjectEventUseCases, type ProjectStreams } from '../events/project-streams.ts'
import { flagConfigurationUseCases } from '../flags/configure-flag.ts'
import { flagStateUseCases } from '../flags/flag-states.ts'
import { flagUseCases } from '../flags/flags.ts'
import { promotionUseCases } from '../flags/promotions.ts'
import { rolloutUseCases } from '../flags/rollouts.ts'
import { segmentUseCases } from '../flags/segments.ts'
import { targetingRuleUseCases } from '../flags/targeting-rules.ts'
import { variationUseCases } from '../flags/variations.ts'
import { restoreUseCases } from '../history/restore-version.ts'
import { versionUseCases } from '../history/versions.ts'
import { createConvergenceUseCases } from '../insights/convergence.ts'
import { explanationUseCases } from '../insights/explanations.ts'
import { flagMetricsUseCases } from '../insights/flag-metrics.ts'
import { flagSummaryUseCases } from '../insights/flag-summaries.ts'
import { createObservedContextUseCases } from '../insights/observed-contexts.ts'
import { environmentUseCases } from '../organizations/environments.ts'
import { organizationUseCases } from '../organizations/organizations.ts'
import { projectUseCases } from '../organizations/projects.ts'
import { sdkKeyUseCases } from '../organizations/sdk-keys.ts'
import type { IdentityProvider } from '../ports/identity-provider.ts'
import type { Payments } from '../ports/payments.ts'
import type { WebhookSender } from '../ports/webhook-sender.ts'
import type { ObservedResults } from '../preview/observed-results.ts'
import { createPreviewUseCases } from '../preview/preview-use-cases.ts'
import type { Previews } from '../preview/previews.ts'
import { scheduledChangeUseCases } from '../scheduling/scheduled-changes.ts'
import type { IssuedCredentials } from '../secrets/issued-credentials.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { createAccessTokenUseCases } from '../users/access-tokens.ts'
import { createLogInUseCases } from '../users/log-ins.ts'
import { memberUseCases } from '../users/members.ts'
import { createOidcUseCases } from '../users/oidc-log-ins.ts'
import { createPasswordUseCases } from '../users/passwords.ts'
import { createWebhookUseCases, webhookUseCases } from '../webhooks/webhooks.ts'

/** The services that use cases depend on, in addition to `ChangeServices`. */
interface UseCaseServices {
  /** The log-in service; `undefined` if users cannot log in to this server. */
  readonly logIn: LogInService | undefined
  readonly identityProvider: IdentityProvider | undefined
  readonly identifyUser: IdentifyUser | undefined
  readonly publicUrl: string | undefined
  readonly payments: Payments | undefined
  readonly webhookSender: WebhookSender
  readonly secretBox: SecretBox | undefined
  readonly issued: IssuedCredentials
  readonly auditWalks: AuditWalks
  readonly recentEntries: RecentEntries
  readonly previews: Previews
  readonly observedResults: ObservedResults
  readonly instance: Instance | undefined
  readonly projectStreams: ProjectStreams
}

/**
 * Creates the use case of each endpoint. An endpoint without a use case is a compile-time error.
 */
export function createUseCases(services: UseCaseServices) {
  const { logIn, payments, auditWalks } = services
  return {
    ...environmentUseCases,
    ...explanationUseCases,
    ...flagConfigurationUseCases,
    ...flagMetricsUseCases,
    ...flagStateUseCases,
    ...flagSummaryUseCases,
    ...flagUseCases,
    ...invoiceUseCases,
    ...memberUseCases,
    ...organizationUseCases,
    ...planUseCases,
    ...projectUseCases,
    ...promotionUseCases,
    ...restoreUseCases,
    ...rolloutUseCases,
    ...scheduledChangeUseCases,
    ...sdkKeyUseCases,
    ...segmentUseCases,
    ...subscriptionUseCases,
    ...targetingRuleUseCases,
    ...variationUseCases,
    ...versionUseCases,
    ...webhookUseCases,
    ...createAccessTokenUseCases(services.issued),
    ...createLogInUseCases(logIn, { hasHostUsers: services.identifyUser !== undefined }),
    ...createPasswordUseCases(logIn),
    ...createOidcUseCases({ ...services, service: logIn }),
    ...createCheckoutUseCases(payments),
    ...createPaymentEventUseCases(payments),
    ...createWebhookUseCases(services),
    ...createAuditLogUseCases(services.recentEntries),
    ...createAuditExportUseCases(auditWalks),
    ...createAuditVerificationUseCases(auditWalks),
    ...createConvergenceUseCases(services.instance),
    ...createObservedContextUseCases(services.observedResults),
    ...createPreviewUseCases(services.previews),
    ...createProjectEventUseCases(services.projectStreams),
  } satisfies EndpointUseCases
}

/** The use cases of a server, by the names of their endpoints. */
export type UseCases = ReturnType<typeof createUseCases>

/** The use cases for calls in process, by endpoint name. */
export type ManagementUseCases = {
  readonly [N in PermittedName]: UseCases[N] extends UseCase<infer Input, infer Result>
    ? (input: Input) => Promise<Result>
    : never
}
