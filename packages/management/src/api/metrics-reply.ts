import { type Exchange, type Metrics, metricsReply, type Reply } from '@ff/server/plane'
import { assertPermittedOnInstallation } from '../access/permissions.ts'
import { type IdentifyingServices, identify } from './identify.ts'

interface MetricsServices extends IdentifyingServices {
  readonly metrics: Metrics
}

/** Answers metrics that are not public. Throws `FORBIDDEN` unless the caller has the role `platform`. */
export async function platformMetricsReply(
  services: MetricsServices,
  exchange: Exchange,
): Promise<Reply> {
  const actor = await identify(services, exchange)
  assertPermittedOnInstallation({ actor, permission: 'configuration.read' })
  return metricsReply(services.metrics)
}
