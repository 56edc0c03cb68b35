export {
  type Actor,
  type AuthenticateBearer,
  type FindActor,
  tokenAuthenticator,
} from './access/actors.ts'
export { exportAuditLog, listAuditLog } from './audit/audit-log.ts'
export { verifyAuditLog } from './audit/audit-verification.ts'
export { createCheckout } from './billing/checkout.ts'
export { listInvoices } from './billing/invoices.ts'
export {
  createPlan,
  deletePlan,
  getPlan,
  listPlans,
  updatePlan,
} from './billing/plans.ts'
export { getOrganizationUsage, setOrganizationPlan } from './billing/subscriptions.ts'
export type { Management } from './changes/management.ts'
export { type As, createManagement, type ManagementOptions } from './create-management.ts'
export { getFlagState, updateFlagState } from './flags/flag-states.ts'
export { createFlag, deleteFlag, getFlag, listFlags, updateFlag } from './flags/flags.ts'
export {
  createRollout,
  deleteRollout,
  getRollout,
  listRollouts,
  updateRollout,
} from './flags/rollouts.ts'
export {
  changeSegmentKeys,
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  updateSegment,
} from './flags/segments.ts'
export {
  createTargetingRule,
  deleteTargetingRule,
  getTargetingRule,
  listTargetingRules,
  reorderTargetingRules,
  updateTargetingRule,
} from './flags/targeting-rules.ts'
export {
  createVariation,
  deleteVariation,
  listVariations,
  reorderVariations,
  updateVariation,
} from './flags/variations.ts'
export { getConvergence } from './insights/convergence.ts'
export { getFlagMetrics } from './insights/flag-metrics.ts'
export {
  forgetObservedContexts,
  listObservedContexts,
} from './insights/observed-contexts.ts'
export {
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  updateEnvironment,
} from './organizations/environments.ts'
export {
  createOrganization,
  deleteOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from './organizations/organizations.ts'
export {
  createProject,
  deleteProject,
  getProject,
  listProjects,
  updateProject,
} from './organizations/projects.ts'
export {
  createSdkKey,
  listSdkKeys,
  revokeSdkKey,
  rotateSdkKey,
} from './organizations/sdk-keys.ts'
export type { AuthorizationChecks, Identity, IdentityProvider } from './ports/identity-provider.ts'
export type { PasswordHasher, PasswordVerdict } from './ports/password-hasher.ts'
export type {
  CheckoutOrder,
  NewCustomer,
  OverageCharge,
  PaymentCheckout,
  PaymentCustomer,
  PaymentDelivery,
  PaymentEvent,
  PaymentInvoice,
  PaymentSubject,
  PaymentSubscription,
  Payments,
} from './ports/payments.ts'
export type { WebhookAnswer, WebhookRequest, WebhookSender } from './ports/webhook-sender.ts'
export {
  createAccessToken,
  deleteAccessToken,
  listAccessTokens,
} from './users/access-tokens.ts'
export type { Administrator } from './users/administrator.ts'
export { addMember, listMembers, removeMember, updateMember } from './users/members.ts'
export {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  updateWebhook,
} from './webhooks/webhooks.ts'
