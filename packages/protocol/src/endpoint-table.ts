import { auditLogEndpoints } from './api/audit/audit-event.ts'
import { webhookEndpoints } from './api/audit/webhook.ts'
import { paymentEndpoints } from './api/billing/checkout.ts'
import { planEndpoints } from './api/billing/plan.ts'
import { subscriptionEndpoints } from './api/billing/subscription.ts'
import type { Endpoint } from './api/endpoint.ts'
import { convergenceEndpoints } from './api/environments/convergence.ts'
import { environmentEndpoints } from './api/environments/environment.ts'
import { observedContextEndpoints } from './api/environments/observed-context.ts'
import { previewEndpoints } from './api/environments/preview.ts'
import { projectEndpoints } from './api/environments/project.ts'
import { projectEventEndpoints } from './api/environments/project-event.ts'
import { sdkKeyEndpoints } from './api/environments/sdk-key.ts'
import { versionEndpoints } from './api/environments/version.ts'
import { flagEndpoints } from './api/flags/flag.ts'
import { flagConfigurationEndpoints } from './api/flags/flag-configuration.ts'
import { flagMetricsEndpoints } from './api/flags/flag-metrics.ts'
import { flagStateEndpoints } from './api/flags/flag-state.ts'
import { flagSummaryEndpoints } from './api/flags/flag-summary.ts'
import { promotionEndpoints } from './api/flags/promotion.ts'
import { rolloutEndpoints } from './api/flags/rollout.ts'
import { scheduledChangeEndpoints } from './api/flags/scheduled-change.ts'
import { segmentEndpoints } from './api/flags/segment.ts'
import { targetingRuleEndpoints } from './api/flags/targeting-rule.ts'
import { variationEndpoints } from './api/flags/variation.ts'
import { organizationEndpoints } from './api/organizations/organization.ts'
import { accessTokenEndpoints } from './api/users/access-token.ts'
import { logInEndpoints } from './api/users/log-in.ts'
import { memberEndpoints } from './api/users/member.ts'
import { oidcEndpoints } from './api/users/oidc.ts'

/** All management endpoints by name. The router, OpenAPI document and clients use this table. */
export const endpoints = {
  ...organizationEndpoints,
  ...subscriptionEndpoints,
  ...paymentEndpoints,
  ...memberEndpoints,
  ...logInEndpoints,
  ...oidcEndpoints,
  ...accessTokenEndpoints,
  ...projectEndpoints,
  ...environmentEndpoints,
  ...sdkKeyEndpoints,
  ...flagEndpoints,
  ...flagSummaryEndpoints,
  ...variationEndpoints,
  ...flagStateEndpoints,
  ...flagConfigurationEndpoints,
  ...targetingRuleEndpoints,
  ...rolloutEndpoints,
  ...scheduledChangeEndpoints,
  ...segmentEndpoints,
  ...versionEndpoints,
  ...promotionEndpoints,
  ...planEndpoints,
  ...auditLogEndpoints,
  ...webhookEndpoints,
  ...flagMetricsEndpoints,
  ...observedContextEndpoints,
  ...convergenceEndpoints,
  ...previewEndpoints,
  ...projectEventEndpoints,
} as const satisfies Record<string, Endpoint>

/** The name of an endpoint. */
export type EndpointName = keyof typeof endpoints
