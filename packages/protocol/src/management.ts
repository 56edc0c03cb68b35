export {
  type AuditEvent,
  type AuditEventRow,
  type AuditEventType,
  type AuditedFields,
  type AuditFault,
  type AuditLog,
  type AuditVerification,
  auditEventCodec,
  auditEvents,
  auditVerificationCodec,
} from './api/audit/audit-event.ts'
export {
  type IssuedWebhook,
  issuedWebhookCodec,
  type NewWebhook,
  newWebhookCodec,
  type Webhook,
  type WebhookChanges,
  webhookChangesCodec,
  webhookCodec,
} from './api/audit/webhook.ts'
export {
  type WebhookDelivery,
  type WebhookFault,
  webhookDeliveryCodec,
} from './api/audit/webhook-delivery.ts'
export { type WebhookMessage, webhookMessageCodec } from './api/audit/webhook-message.ts'
export {
  type Checkout,
  checkoutCodec,
  type NewCheckout,
  newCheckoutCodec,
} from './api/billing/checkout.ts'
export {
  type Invoice,
  type Invoices,
  invoiceCodec,
  invoicesCodec,
  type OverageMetadata,
  overageMetadataCodec,
} from './api/billing/invoice.ts'
export {
  DEFAULT_OVERAGE_BLOCK_SIZE,
  type NewPlan,
  newPlanCodec,
  type Plan,
  type PlanChanges,
  planChangesCodec,
  planCodec,
} from './api/billing/plan.ts'
export {
  type OrganizationUsage,
  organizationUsageCodec,
  type PlanChoice,
  planChoiceCodec,
} from './api/billing/subscription.ts'
export { type Endpoint, noBody } from './api/endpoint.ts'
export {
  type Envelope,
  envelope,
  type InUse,
  inUseCodec,
  type PageOf,
  pageOf,
} from './api/envelope.ts'
export { type Convergence, convergenceCodec } from './api/environments/convergence.ts'
export {
  type Environment,
  type EnvironmentChanges,
  environmentChangesCodec,
  environmentCodec,
  MAX_ENVIRONMENT_INDEX,
  type NewEnvironment,
  newEnvironmentCodec,
} from './api/environments/environment.ts'
export { type ObservedContext, observedContextCodec } from './api/environments/observed-context.ts'
export {
  type Preview,
  type PreviewChange,
  type PreviewQuestion,
  previewCodec,
  previewQuestionCodec,
} from './api/environments/preview.ts'
export {
  type NewProject,
  newProjectCodec,
  type Project,
  type ProjectChanges,
  type ProjectView,
  projectChangesCodec,
  projectCodec,
  projectViewCodec,
} from './api/environments/project.ts'
export { type ProjectEvent, projectEventCodec } from './api/environments/project-event.ts'
export {
  type IssuedSdkKey,
  issuedSdkKeyCodec,
  type NewSdkKey,
  newSdkKeyCodec,
  rotatedSdkKeyCodec,
  type SdkKey,
  type SdkKeyRotation,
  sdkKeyCodec,
  sdkKeyRotationCodec,
} from './api/environments/sdk-key.ts'
export {
  type Restoration,
  restorationCodec,
  restoredVersionCodec,
  type Version,
  versionCodec,
} from './api/environments/version.ts'
export { type Condition, condition, conditionInput } from './api/flags/condition.ts'
export {
  type EvaluationQuestion,
  type ExplainedEvaluation,
  type ExplainedFlag,
  evaluationQuestionCodec,
  explainedEvaluationCodec,
  explanationStepCodec,
} from './api/flags/explanation.ts'
export {
  type Flag,
  type FlagChanges,
  type FlagView,
  flagChangesCodec,
  flagCodec,
  flagViewCodec,
  type ListedFlag,
  listedFlagCodec,
  type NewFlag,
  newFlagCodec,
} from './api/flags/flag.ts'
export {
  type ConfigurationUpdate,
  configurationUpdateCodec,
  configuredFlagCodec,
  type FlagConfigurationDocument,
  type FlagConfigurationInput,
  flagConfigurationCodec,
  flagConfigurationInputCodec,
  type StaleConfiguration,
  staleConfigurationCodec,
} from './api/flags/flag-configuration.ts'
export { type FlagMetrics, flagMetricsCodec } from './api/flags/flag-metrics.ts'
export { flagSetCodec } from './api/flags/flag-set.ts'
export {
  type FlagState,
  type FlagStateChanges,
  flagStateChangesCodec,
  flagStateCodec,
} from './api/flags/flag-state.ts'
export {
  type EnvironmentSummary,
  type FlagSummary,
  type FlagSummarySort,
  flagSummaryCodec,
} from './api/flags/flag-summary.ts'
export {
  type NewPromotion,
  newPromotionCodec,
  type Promotion,
  promotedFlagCodec,
  promotionCodec,
} from './api/flags/promotion.ts'
export { type Reorder, reorderCodec } from './api/flags/reorder.ts'
export {
  BUCKETING_SCHEMES,
  type ChangedRollout,
  changedRolloutCodec,
  type NewRollout,
  newRolloutCodec,
  type Rollout,
  type RolloutChanges,
  rolloutChangesCodec,
  rolloutCodec,
} from './api/flags/rollout.ts'
export {
  type NewScheduledChange,
  newScheduledChangeCodec,
  type ScheduledChange,
  type ScheduledOperation,
  scheduledChangeCodec,
} from './api/flags/scheduled-change.ts'
export {
  type NewSegment,
  newSegmentCodec,
  type Segment,
  type SegmentChanges,
  type SegmentKeys,
  segmentChangesCodec,
  segmentCodec,
  segmentKeysCodec,
} from './api/flags/segment.ts'
export {
  type NewTargetingRule,
  newTargetingRuleCodec,
  type TargetingRule,
  type TargetingRuleChanges,
  type TargetingRuleView,
  targetingRuleChangesCodec,
  targetingRuleCodec,
  targetingRuleViewCodec,
} from './api/flags/targeting-rule.ts'
export {
  type NewVariation,
  newVariationCodec,
  type Variation,
  type VariationChanges,
  variationChangesCodec,
  variationCodec,
} from './api/flags/variation.ts'
export { formatJson, lossOfJson } from './api/json-text.ts'
export {
  type NewOrganization,
  newOrganizationCodec,
  type Organization,
  type OrganizationChanges,
  organizationChangesCodec,
  organizationCodec,
} from './api/organizations/organization.ts'
export {
  fieldsOf,
  type RecordField,
  readOnlyFieldsOf,
  record,
  toSnakeCase,
  type Wire,
} from './api/record.ts'
export {
  hasPermission,
  isRoleWithin,
  type Permission,
  ROLE_PERMISSIONS,
  type Role,
  rolesWith,
} from './api/roles.ts'
export { hasVisibleCharacter, isId } from './api/scalars.ts'
export {
  type AccessToken,
  accessTokenCodec,
  type IssuedAccessToken,
  issuedAccessTokenCodec,
  type NewAccessToken,
  newAccessTokenCodec,
} from './api/users/access-token.ts'
export {
  type LogIn,
  type LogInMethods,
  logInCodec,
  logInMethodsCodec,
  type NewLogIn,
  newLogInCodec,
  type PasswordChange,
  passwordChangeCodec,
} from './api/users/log-in.ts'
export {
  type InvitedMember,
  invitedMemberCodec,
  type Member,
  type MemberChanges,
  memberChangesCodec,
  memberCodec,
  type NewMember,
  newMemberCodec,
  type User,
  userCodec,
} from './api/users/member.ts'
export { OWN_PATH } from './api/users/oidc.ts'
export { type EndpointName, endpoints } from './endpoint-table.ts'
export { sdkSchemas } from './sdk-schemas.ts'
