import type { EndpointName, endpoints } from '@ff/protocol/management'
import { createAccessToken, deleteAccessToken, listAccessTokens } from './access-tokens.ts'
import { exportAuditLog, listAuditLog } from './audit-log.ts'
import { verifyAuditLog } from './audit-verification.ts'
import { createCheckout } from './checkout.ts'
import { getConvergence } from './convergence.ts'
import {
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  updateEnvironment,
} from './environments.ts'
import { explainEvaluation } from './explanations.ts'
import { getFlagMetrics } from './flag-metrics.ts'
import { getFlagState, updateFlagState } from './flag-states.ts'
import { createFlag, deleteFlag, getFlag, listFlags, updateFlag } from './flags.ts'
import { listInvoices } from './invoices.ts'
import { getLogIn, logIn, logOut } from './log-ins.ts'
import type { UseCase } from './management.ts'
import { addMember, listMembers, removeMember, updateMember } from './members.ts'
import { forgetObservedContexts, listObservedContexts } from './observed-contexts.ts'
import { finishOidcLogIn, startOidcLogIn } from './oidc-log-ins.ts'
import {
  createOrganization,
  deleteOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from './organizations.ts'
import { changePassword } from './passwords.ts'
import { receiveStripeEvent } from './payment-events.ts'
import { createPlan, deletePlan, getPlan, listPlans, updatePlan } from './plans.ts'
import {
  createProject,
  deleteProject,
  getProject,
  listProjects,
  updateProject,
} from './projects.ts'
import { promoteFlag } from './promotions.ts'
import { restoreVersion } from './restore-version.ts'
import {
  createRollout,
  deleteRollout,
  getRollout,
  listRollouts,
  updateRollout,
} from './rollouts.ts'
import {
  createScheduledChange,
  deleteScheduledChange,
  listScheduledChanges,
} from './scheduled-changes.ts'
import { createSdkKey, listSdkKeys, revokeSdkKey, rotateSdkKey } from './sdk-keys.ts'
import {
  changeSegmentKeys,
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  updateSegment,
} from './segments.ts'
import { getOrganizationUsage, setOrganizationPlan } from './subscriptions.ts'
import {
  createTargetingRule,
  deleteTargetingRule,
  getTargetingRule,
  listTargetingRules,
  reorderTargetingRules,
  updateTargetingRule,
} from './targeting-rules.ts'
import {
  createVariation,
  deleteVariation,
  listVariations,
  reorderVariations,
  updateVariation,
} from './variations.ts'
import { getVersion, listVersions } from './versions.ts'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  updateWebhook,
} from './webhooks.ts'

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
