export {
  type Actor,
  type AuthenticateBearer,
  type FindActor,
  tokenAuthenticator,
} from './access/actors.ts'
export type { PasswordHasher, PasswordVerdict } from './access/passwords.ts'
export type { EnvironmentScope } from './access/sdk-keys.ts'
export { type Cancel, type Clock, systemClock } from './clock.ts'
export { engines } from './evaluation/engines.ts'
export { createFlagServer, type EnvironmentRef, type FlagServer } from './flag-server.ts'
export type { Exchange, Outcome, Reply, Waiting } from './http/exchange.ts'
export type { AuthorizationChecks, Identity, IdentityProvider } from './identity-provider.ts'
export type { EndReason } from './live/flag-session.ts'
export type { FlagUpdate, Message } from './live/flag-update.ts'
export type { SocketConnection } from './live/socket-connection.ts'
export type { SocketLike } from './live/socket-like.ts'
export { type LogFields, type Logger, silentLogger } from './logger.ts'
export {
  createAccessToken,
  deleteAccessToken,
  listAccessTokens,
} from './management/access-tokens.ts'
export type { Administrator } from './management/administrator.ts'
export { exportAuditLog, listAuditLog } from './management/audit-log.ts'
export { verifyAuditLog } from './management/audit-verification.ts'
export { createCheckout } from './management/checkout.ts'
export { getConvergence } from './management/convergence.ts'
export {
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  updateEnvironment,
} from './management/environments.ts'
export { getFlagMetrics } from './management/flag-metrics.ts'
export { getFlagState, updateFlagState } from './management/flag-states.ts'
export { createFlag, deleteFlag, getFlag, listFlags, updateFlag } from './management/flags.ts'
export { listInvoices } from './management/invoices.ts'
export type { Management } from './management/management.ts'
export { addMember, listMembers, removeMember, updateMember } from './management/members.ts'
export {
  forgetObservedContexts,
  listObservedContexts,
} from './management/observed-contexts.ts'
export {
  createOrganization,
  deleteOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from './management/organizations.ts'
export {
  createPlan,
  deletePlan,
  getPlan,
  listPlans,
  updatePlan,
} from './management/plans.ts'
export {
  createProject,
  deleteProject,
  getProject,
  listProjects,
  updateProject,
} from './management/projects.ts'
export {
  createRollout,
  deleteRollout,
  getRollout,
  listRollouts,
  updateRollout,
} from './management/rollouts.ts'
export {
  createSdkKey,
  listSdkKeys,
  revokeSdkKey,
  rotateSdkKey,
} from './management/sdk-keys.ts'
export {
  changeSegmentKeys,
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  updateSegment,
} from './management/segments.ts'
export { getOrganizationUsage, setOrganizationPlan } from './management/subscriptions.ts'
export {
  createTargetingRule,
  deleteTargetingRule,
  getTargetingRule,
  listTargetingRules,
  reorderTargetingRules,
  updateTargetingRule,
} from './management/targeting-rules.ts'
export {
  createVariation,
  deleteVariation,
  listVariations,
  reorderVariations,
  updateVariation,
} from './management/variations.ts'
export {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  updateWebhook,
} from './management/webhooks.ts'
export type { FlagServerOptions } from './options.ts'
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
} from './payments.ts'
