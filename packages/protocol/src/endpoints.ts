import { accessTokenEndpoints } from './endpoints/access-tokens.ts'
import { auditLogEndpoints } from './endpoints/audit-log.ts'
import { convergenceEndpoints } from './endpoints/convergence.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { environmentEndpoints } from './endpoints/environments.ts'
import { flagMetricsEndpoints } from './endpoints/flag-metrics.ts'
import { flagStateEndpoints } from './endpoints/flag-states.ts'
import { flagEndpoints } from './endpoints/flags.ts'
import { memberEndpoints } from './endpoints/members.ts'
import { observedContextEndpoints } from './endpoints/observed-contexts.ts'
import { oidcEndpoints } from './endpoints/oidc.ts'
import { organizationEndpoints } from './endpoints/organizations.ts'
import { paymentEndpoints } from './endpoints/payments.ts'
import { peopleEndpoints } from './endpoints/people.ts'
import { planEndpoints } from './endpoints/plans.ts'
import { projectEndpoints } from './endpoints/projects.ts'
import { promotionEndpoints } from './endpoints/promotions.ts'
import { rolloutEndpoints } from './endpoints/rollouts.ts'
import { scheduledChangeEndpoints } from './endpoints/scheduled-changes.ts'
import { sdkKeyEndpoints } from './endpoints/sdk-keys.ts'
import { segmentEndpoints } from './endpoints/segments.ts'
import { subscriptionEndpoints } from './endpoints/subscriptions.ts'
import { targetingRuleEndpoints } from './endpoints/targeting-rules.ts'
import { variationEndpoints } from './endpoints/variations.ts'
import { versionEndpoints } from './endpoints/versions.ts'
import { webhookEndpoints } from './endpoints/webhooks.ts'

/** Every management endpoint. The router, the permission test and clients all read this table. */
export const endpoints = {
  ...organizationEndpoints,
  ...subscriptionEndpoints,
  ...paymentEndpoints,
  ...memberEndpoints,
  ...peopleEndpoints,
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
