import type { ConnectedManagementPlane, ServerServices } from '@ff/server/plane'
import { InstanceReporter } from '../../../server/src/convergence/instance-reporter.ts'
import { FlagSetCache } from '../../../server/src/evaluation/flag-set-cache.ts'
import { type Handle, jsonReply } from '../../../server/src/http/exchange.ts'
import { createHandler } from '../../../server/src/http/handler.ts'
import { Metrics } from '../../../server/src/http/metrics.ts'
import { RequestLog } from '../../../server/src/http/request-log.ts'
import { Instance } from '../../../server/src/instance.ts'
import { SessionRegistry } from '../../../server/src/live/session-registry.ts'
import { resolveOptions } from '../../../server/src/options.ts'
import { InFlight } from '../../../server/src/runtime/in-flight.ts'
import { SavedState } from '../../../server/src/snapshots/saved-state.ts'
import type { As } from '../../src/create-management.ts'
import { createManagement } from '../../src/node/node.ts'
import { WebhookDispatcher } from '../../src/webhooks/webhook-dispatcher.ts'
import type { ManagedOptions } from './managed-server.ts'

/** A management plane, and the handler of the server that it is connected to. */
interface ConnectedPlane {
  readonly plane: ConnectedManagementPlane<As>
  readonly handle: Handle
}

/** Connects a management plane to a server without evaluation. No webhook is sent. */
export function connectPlane(options: ManagedOptions): ConnectedPlane {
  const services = servicesOf(options)
  const plane = createManagement(options).connect(services)
  stopWebhooks(plane)
  const handle = createHandler({
    ...services,
    connection: { readStatus: async () => ({ status: 'ready' }) },
    whenReady: () => undefined,
    sdk: () => jsonReply(404, { error: 'There is no such path.', statusCode: 404 }),
    requestLog: new RequestLog({ ...services, templateOf: plane.templateOf }),
    openTelemetry: undefined,
    management: plane.handle,
    metricsArePublic: options.metricsArePublic ?? false,
    inFlight: new InFlight(),
  })
  return { plane, handle }
}

/** Stops the dispatcher, so that deliveries stay pending for the tests and nothing is sent. */
function stopWebhooks({ jobs }: ConnectedManagementPlane<As>): void {
  for (const job of jobs) if (job instanceof WebhookDispatcher) void job.stop()
}

/** Returns the services of a server without evaluation. */
function servicesOf(options: ManagedOptions): ServerServices {
  const resolved = resolveOptions(options)
  const sessions = new SessionRegistry()
  const cache = new FlagSetCache({ ...resolved, saved: new SavedState(resolved), sessions })
  const parts = { ...resolved, cache, sessions }
  const usage = { flush: async () => undefined }
  const instance = new Instance({ ...parts, reporter: new InstanceReporter(parts), usage })
  const start = () => resolved.storage.migrate()
  const jobsAreOff = async () => false
  return { ...resolved, metrics: new Metrics(), instance, start, jobsAreOff }
}
