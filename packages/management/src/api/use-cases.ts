import type { Endpoint, EndpointName, endpoints } from '@ff/protocol/management'
import type { Instance } from '@ff/server/plane'
import { createAuditExportUseCases, listAuditLog } from '../audit/audit-log.ts'
import { createAuditVerificationUseCases } from '../audit/audit-verification.ts'
import type { AuditWalks } from '../audit/audit-walks.ts'
import type { LogInService } from '../authentication/log-in-service.ts'
import { createCheckoutUseCases } from '../billing/checkout.ts'
import { listInvoices } from '../billing/invoices.ts'
import { createPaymentEventUseCases } from '../billing/payment-events.ts'
import { createPlan, deletePlan, getPlan, listPlans, updatePlan } from '../billing/plans.ts'
import { getOrganizationUsage, setOrganizationPlan } from '../billing/subscriptions.ts'
import type { ResultOf, UseCase } from '../changes/use-case.ts'
import { getFlagState, updateFlagState } from '../flags/flag-states.ts'
import { createFlag, deleteFlag, getFlag, listFlags, updateFlag } from '../flags/flags.ts'
import { promoteFlag } from '../flags/promotions.ts'
import {
  createRollout,
  deleteRollout,
  getRollout,
  listRollouts,
  updateRollout,
} from '../flags/rollouts.ts'
import {
  changeSegmentKeys,
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  updateSegment,
} from '../flags/segments.ts'
import {
  createTargetingRule,
  deleteTargetingRule,
  getTargetingRule,
  listTargetingRules,
  reorderTargetingRules,
  updateTargetingRule,
} from '../flags/targeting-rules.ts'
import {
  createVariation,
  deleteVariation,
  listVariations,
  reorderVariations,
  updateVariation,
} from '../flags/variations.ts'
import { restoreVersion } from '../history/restore-version.ts'
import { getVersion, listVersions } from '../history/versions.ts'
import { createConvergenceUseCases } from '../insights/convergence.ts'
import { explainEvaluation } from '../insights/explanations.ts'
import { getFlagMetrics } from '../insights/flag-metrics.ts'
import { forgetObservedContexts, listObservedContexts } from '../insights/observed-contexts.ts'
import {
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  updateEnvironment,
} from '../organizations/environments.ts'
import {
  createOrganization,
  deleteOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from '../organizations/organizations.ts'
import {
  createProject,
  deleteProject,
  getProject,
  listProjects,
  updateProject,
} from '../organizations/projects.ts'
import { createSdkKey, listSdkKeys, revokeSdkKey, rotateSdkKey } from '../organizations/sdk-keys.ts'
import type { IdentityProvider } from '../ports/identity-provider.ts'
import type { Payments } from '../ports/payments.ts'
import type { WebhookSender } from '../ports/webhook-sender.ts'
import type { InputOf } from '../requests/input.ts'
import type { WithHeaders } from '../requests/with-headers.ts'
import {
  createScheduledChange,
  deleteScheduledChange,
  listScheduledChanges,
} from '../scheduling/scheduled-changes.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { createAccessToken, deleteAccessToken, listAccessTokens } from '../users/access-tokens.ts'
import { createLogInUseCases } from '../users/log-ins.ts'
import { addMember, listMembers, removeMember, updateMember } from '../users/members.ts'
import { createOidcUseCases } from '../users/oidc-log-ins.ts'
import { createPasswordUseCases } from '../users/passwords.ts'
import {
  createWebhookUseCases,
  deleteWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
} from '../webhooks/webhooks.ts'

/** What use cases depend on, besides the services of every change. */
interface UseCaseServices {
  /** `undefined` if users do not log in to this server. */
  readonly logIn: LogInService | undefined
  readonly identityProvider: IdentityProvider | undefined
  readonly publicUrl: string | undefined
  readonly payments: Payments | undefined
  readonly webhookSender: WebhookSender
  readonly secretBox: SecretBox | undefined
  readonly auditWalks: AuditWalks
  readonly instance: Instance | undefined
}

/** The use cases that need no services of their own. */
const plainUseCases = {
  listOrganizations,
  createOrganization,
  getOrganization,
  updateOrganization,
  deleteOrganization,
  getOrganizationUsage,
  setOrganizationPlan,
  listInvoices,
  listMembers,
  addMember,
  updateMember,
  removeMember,
  listAccessTokens,
  createAccessToken,
  deleteAccessToken,
  listProjects,
  createProject,
  getProject,
  updateProject,
  deleteProject,
  listEnvironments,
  createEnvironment,
  getEnvironment,
  updateEnvironment,
  deleteEnvironment,
  listSdkKeys,
  createSdkKey,
  revokeSdkKey,
  rotateSdkKey,
  listFlags,
  createFlag,
  getFlag,
  updateFlag,
  deleteFlag,
  listVariations,
  createVariation,
  reorderVariations,
  updateVariation,
  deleteVariation,
  getFlagState,
  updateFlagState,
  listTargetingRules,
  createTargetingRule,
  reorderTargetingRules,
  getTargetingRule,
  updateTargetingRule,
  deleteTargetingRule,
  listRollouts,
  createRollout,
  getRollout,
  updateRollout,
  deleteRollout,
  listScheduledChanges,
  createScheduledChange,
  deleteScheduledChange,
  listSegments,
  createSegment,
  getSegment,
  updateSegment,
  deleteSegment,
  changeSegmentKeys,
  listVersions,
  getVersion,
  restoreVersion,
  explainEvaluation,
  promoteFlag,
  listPlans,
  createPlan,
  getPlan,
  updatePlan,
  deletePlan,
  listAuditLog,
  listWebhooks,
  getWebhook,
  deleteWebhook,
  listWebhookDeliveries,
  getFlagMetrics,
  listObservedContexts,
  forgetObservedContexts,
}

/** The use case of each endpoint. A row of the endpoint table without one does not compile. */
export function createUseCases(services: UseCaseServices) {
  const { logIn, payments, auditWalks } = services
  return {
    ...plainUseCases,
    ...createLogInUseCases(logIn),
    ...createPasswordUseCases(logIn),
    ...createOidcUseCases({ ...services, service: logIn }),
    ...createCheckoutUseCases(payments),
    ...createPaymentEventUseCases(payments),
    ...createWebhookUseCases(services),
    ...createAuditExportUseCases(auditWalks),
    ...createAuditVerificationUseCases(auditWalks),
    ...createConvergenceUseCases(services.instance),
  } satisfies { readonly [N in EndpointName]: EndpointUseCase<(typeof endpoints)[N]> }
}

type EndpointUseCase<E extends Endpoint> = UseCase<
  InputOf<E>,
  ResultOf<E> | WithHeaders<ResultOf<E>>
>

/** The use cases of a server, by the names of their endpoints. */
export type UseCases = ReturnType<typeof createUseCases>
