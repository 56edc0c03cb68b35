import { assertPermittedOnInstallation } from '../access/permissions.ts'
import type { Exchange, Reply } from './exchange.ts'
import { type IdentifyingServices, identify } from './identify.ts'
import type { Metrics } from './metrics.ts'

export const METRICS_PATH = '/metrics'

interface MetricsServices extends IdentifyingServices {
  readonly metrics: Metrics
  readonly metricsArePublic: boolean
}

/** What Prometheus reads; only the platform may, unless the host has made it public. */
export async function metricsReply(services: MetricsServices, exchange: Exchange): Promise<Reply> {
  const { metrics, metricsArePublic } = services
  if (!metricsArePublic) {
    const actor = await identify(services, exchange)
    assertPermittedOnInstallation({ actor, permission: 'configuration.read' })
  }
  const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }
  return { status: 200, headers, body: metrics.toText() }
}
