import type { EndpointName, endpoints } from '@ff/protocol/management'
import { exportAuditLog, listAuditLog } from '../audit/audit-log.ts'
import { verifyAuditLog } from '../audit/audit-verification.ts'
import { createCheckout } from '../billing/checkout.ts'
import { listInvoices } from '../billing/invoices.ts'
import { receiveStripeEvent } from '../billing/payment-events.ts'
import { createPlan, deletePlan, getPlan, listPlans, updatePlan } from '../billing/plans.ts'
import { getOrganizationUsage, setOrganizationPlan } from '../billing/subscriptions.ts'
import type { UseCase } from '../changes/management.ts'
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
import { getConvergence } from '../insights/convergence.ts'
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
import {
  createScheduledChange,
  deleteScheduledChange,
  listScheduledChanges,
} from '../scheduling/scheduled-changes.ts'
import { createAccessToken, deleteAccessToken, listAccessTokens } from '../users/access-tokens.ts'
import { getLogIn, logIn, logOut } from '../users/log-ins.ts'
import { addMember, listMembers, removeMember, updateMember } from '../users/members.ts'
import { finishOidcLogIn, startOidcLogIn } from '../users/oidc-log-ins.ts'
import { changePassword } from '../users/passwords.ts'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  updateWebhook,
} from '../webhooks/webhooks.ts'

/** What each endpoint does. A row of the endpoint table without a use case does not compile. */
export const useCases: { readonly [N in EndpointName]: UseCase<(typeof endpoints)[N]> } = {
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
  logIn,
  logOut,
  getLogIn,
  changePassword,
  startOidcLogIn,
  finishOidcLogIn,
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
  createCheckout,
  receiveStripeEvent,
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
  verifyAuditLog,
  exportAuditLog,
  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  listWebhookDeliveries,
  getFlagMetrics,
  listObservedContexts,
  forgetObservedContexts,
  getConvergence,
}
