import { accessTokenEndpoints } from './endpoints/access-tokens.ts'
import { auditLogEndpoints } from './endpoints/audit-log.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { environmentEndpoints } from './endpoints/environments.ts'
import { flagStateEndpoints } from './endpoints/flag-states.ts'
import { flagEndpoints } from './endpoints/flags.ts'
import { memberEndpoints } from './endpoints/members.ts'
import { organizationEndpoints } from './endpoints/organizations.ts'
import { projectEndpoints } from './endpoints/projects.ts'
import { promotionEndpoints } from './endpoints/promotions.ts'
import { rolloutEndpoints } from './endpoints/rollouts.ts'
import { sdkKeyEndpoints } from './endpoints/sdk-keys.ts'
import { segmentEndpoints } from './endpoints/segments.ts'
import { targetingRuleEndpoints } from './endpoints/targeting-rules.ts'
import { variationEndpoints } from './endpoints/variations.ts'
import { versionEndpoints } from './endpoints/versions.ts'

/** Every management endpoint. The router, the permission test and clients all read this table. */
export const endpoints = {
  ...organizationEndpoints,
  ...memberEndpoints,
  ...accessTokenEndpoints,
  ...projectEndpoints,
  ...environmentEndpoints,
  ...sdkKeyEndpoints,
  ...flagEndpoints,
  ...variationEndpoints,
  ...flagStateEndpoints,
  ...targetingRuleEndpoints,
  ...rolloutEndpoints,
  ...segmentEndpoints,
  ...versionEndpoints,
  ...promotionEndpoints,
  ...auditLogEndpoints,
} as const satisfies Record<string, Endpoint>

export type EndpointName = keyof typeof endpoints
