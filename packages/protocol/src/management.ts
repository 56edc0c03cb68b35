export { type Endpoint, noBody, type Permission } from './endpoints/endpoint.ts'
export { OWN_PATH } from './endpoints/oidc.ts'
export { type EndpointName, endpoints } from './endpoints.ts'
export {
  type Envelope,
  envelope,
  type InUse,
  inUseCodec,
  type PageOf,
  pageOf,
} from './envelope.ts'
export { record, type Wire } from './record.ts'
export {
  type AccessToken,
  accessTokenCodec,
  type IssuedAccessToken,
  issuedAccessTokenCodec,
  type NewAccessToken,
  newAccessTokenCodec,
  type Role,
} from './resources/access-token.ts'
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
} from './resources/audit-event.ts'
export {
  type Checkout,
  checkoutCodec,
  type NewCheckout,
  newCheckoutCodec,
} from './resources/checkout.ts'
export { type Condition, condition, conditionInput } from './resources/condition.ts'
export { type Convergence, convergenceCodec } from './resources/convergence.ts'
export {
  type Environment,
  type EnvironmentChanges,
  environmentChangesCodec,
  environmentCodec,
  type NewEnvironment,
  newEnvironmentCodec,
} from './resources/environment.ts'
export {
  type EvaluationQuestion,
  type ExplainedEvaluation,
  type ExplainedFlag,
  evaluationQuestionCodec,
  explainedEvaluationCodec,
  explanationStepCodec,
} from './resources/explanation.ts'
export {
  type Flag,
  type FlagChanges,
  type FlagView,
  flagChangesCodec,
  flagCodec,
  flagViewCodec,
  type NewFlag,
  newFlagCodec,
} from './resources/flag.ts'
export { type FlagMetrics, flagMetricsCodec } from './resources/flag-metrics.ts'
export { flagSetCodec } from './resources/flag-set.ts'
export {
  type FlagState,
  type FlagStateChanges,
  flagStateChangesCodec,
  flagStateCodec,
} from './resources/flag-state.ts'
export {
  type Invoice,
  type Invoices,
  invoiceCodec,
  invoicesCodec,
  type OverageMetadata,
  overageMetadataCodec,
} from './resources/invoice.ts'
export {
  type LogIn,
  logInCodec,
  type NewLogIn,
  newLogInCodec,
  type PasswordChange,
  passwordChangeCodec,
} from './resources/log-in.ts'
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
} from './resources/member.ts'
export { type ObservedContext, observedContextCodec } from './resources/observed-context.ts'
export { type Reorder, reorderCodec } from './resources/order.ts'
export {
  type NewOrganization,
  newOrganizationCodec,
  type Organization,
  type OrganizationChanges,
  organizationChangesCodec,
  organizationCodec,
} from './resources/organization.ts'
export {
  DEFAULT_OVERAGE_BLOCK_SIZE,
  type NewPlan,
  newPlanCodec,
  type Plan,
  type PlanChanges,
  planChangesCodec,
  planCodec,
} from './resources/plan.ts'
export {
  type NewProject,
  newProjectCodec,
  type Project,
  type ProjectChanges,
  type ProjectView,
  projectChangesCodec,
  projectCodec,
  projectViewCodec,
} from './resources/project.ts'
export {
  type NewPromotion,
  newPromotionCodec,
  type Promotion,
  promotedFlagCodec,
  promotionCodec,
} from './resources/promotion.ts'
export {
  type ChangedRollout,
  changedRolloutCodec,
  type NewRollout,
  newRolloutCodec,
  type Rollout,
  type RolloutChanges,
  rolloutChangesCodec,
  rolloutCodec,
} from './resources/rollout.ts'
export {
  type NewScheduledChange,
  newScheduledChangeCodec,
  type ScheduledChange,
  type ScheduledOperation,
  scheduledChangeCodec,
} from './resources/scheduled-change.ts'
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
} from './resources/sdk-key.ts'
export {
  type NewSegment,
  newSegmentCodec,
  type Segment,
  type SegmentChanges,
  type SegmentKeys,
  segmentChangesCodec,
  segmentCodec,
  segmentKeysCodec,
} from './resources/segment.ts'
export {
  type OrganizationUsage,
  organizationUsageCodec,
  type PlanChoice,
  planChoiceCodec,
} from './resources/subscription.ts'
export {
  type NewTargetingRule,
  newTargetingRuleCodec,
  type TargetingRule,
  type TargetingRuleChanges,
  type TargetingRuleView,
  targetingRuleChangesCodec,
  targetingRuleCodec,
  targetingRuleViewCodec,
} from './resources/targeting-rule.ts'
export {
  type NewVariation,
  newVariationCodec,
  type Variation,
  type VariationChanges,
  variationChangesCodec,
  variationCodec,
} from './resources/variation.ts'
export {
  type Restoration,
  restorationCodec,
  restoredVersionCodec,
  type Version,
  versionCodec,
} from './resources/version.ts'
export {
  type IssuedWebhook,
  issuedWebhookCodec,
  type NewWebhook,
  newWebhookCodec,
  type Webhook,
  type WebhookChanges,
  webhookChangesCodec,
  webhookCodec,
} from './resources/webhook.ts'
export {
  type WebhookDelivery,
  type WebhookFault,
  webhookDeliveryCodec,
} from './resources/webhook-delivery.ts'
export { type WebhookMessage, webhookMessageCodec } from './resources/webhook-message.ts'
export { sdkSchemas } from './sdk-schemas.ts'
