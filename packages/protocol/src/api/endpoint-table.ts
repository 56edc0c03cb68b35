import { auditLogEndpoints } from './audit/audit-event.ts'
import { webhookEndpoints } from './audit/webhook.ts'
import { paymentEndpoints } from './billing/checkout.ts'
import { planEndpoints } from './billing/plan.ts'
import { subscriptionEndpoints } from './billing/subscription.ts'
import type { Endpoint } from './endpoint.ts'
import { convergenceEndpoints } from './environments/convergence.ts'
import { environmentEndpoints } from './environments/environment.ts'
import { observedContextEndpoints } from './environments/observed-context.ts'
import { projectEndpoints } from './environments/project.ts'
import { sdkKeyEndpoints } from './environments/sdk-key.ts'
import { versionEndpoints } from './environments/version.ts'
import { flagEndpoints } from './flags/flag.ts'
import { flagMetricsEndpoints } from './flags/flag-metrics.ts'
import { flagStateEndpoints } from './flags/flag-state.ts'
import { promotionEndpoints } from './flags/promotion.ts'
import { rolloutEndpoints } from './flags/rollout.ts'
import { scheduledChangeEndpoints } from './flags/scheduled-change.ts'
import { segmentEndpoints } from './flags/segment.ts'
import { targetingRuleEndpoints } from './flags/targeting-rule.ts'
import { variationEndpoints } from './flags/variation.ts'
import { organizationEndpoints } from './organizations/organization.ts'
import { accessTokenEndpoints } from './users/access-token.ts'
import { logInEndpoints } from './users/log-in.ts'
import { memberEndpoints } from './users/member.ts'
import { oidcEndpoints } from './users/oidc.ts'

/** Every management endpoint. The router, the permission test and clients all read this table. */
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
  ...variationEndpoints,
  ...flagStateEndpoints,
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
} as const satisfies Record<string, Endpoint>

export type EndpointName = keyof typeof endpoints
