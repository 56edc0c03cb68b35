export {
  type Endpoint,
  type EndpointName,
  endpoints,
  noBody,
  type Permission,
} from './endpoints.ts'
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
  type NewAccessToken,
  newAccessTokenCodec,
  type Role,
} from './resources/access-token.ts'
export {
  type AuditEvent,
  type AuditEventType,
  type AuditedFields,
  auditEventCodec,
  auditEvents,
} from './resources/audit-event.ts'
export { type Condition, condition, conditionInput } from './resources/condition.ts'
export {
  type Environment,
  environmentCodec,
  type NewEnvironment,
  newEnvironmentCodec,
} from './resources/environment.ts'
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
export {
  type FlagState,
  type FlagStateChanges,
  flagStateChangesCodec,
  flagStateCodec,
} from './resources/flag-state.ts'
export { type Reorder, reorderCodec } from './resources/order.ts'
export {
  type NewOrganization,
  newOrganizationCodec,
  type Organization,
  organizationCodec,
} from './resources/organization.ts'
export {
  type NewProject,
  newProjectCodec,
  type Project,
  projectCodec,
} from './resources/project.ts'
export {
  type NewRollout,
  newRolloutCodec,
  type Rollout,
  rolloutCodec,
} from './resources/rollout.ts'
export {
  type NewSdkKey,
  newSdkKeyCodec,
  type SdkKey,
  sdkKeyCodec,
} from './resources/sdk-key.ts'
export {
  type NewSegment,
  newSegmentCodec,
  type Segment,
  segmentCodec,
} from './resources/segment.ts'
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
