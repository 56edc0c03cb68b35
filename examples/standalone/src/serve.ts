import cluster from 'node:cluster'
import { createServer, type RequestListener } from 'node:http'
import { createDashboard } from '@ff/dashboard'
import { toNodeHandler as toDashboardHandler } from '@ff/dashboard/node'
import type { As } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { type Cancel, createFlagServer, type FlagServer } from '@ff/server'
import { attachWebSocket, createShutdown, toNodeHandler } from '@ff/server/node'
import { snapshotFolder } from '@ff/storage/snapshots'
import type { Config } from './config.ts'
import { secretKeysOf } from './data-folder/secret-key.ts'
import { startDemoTraffic } from './demo/demo-traffic.ts'
import { adaptHeap } from './heap.ts'
import { DASHBOARD } from './introduction.ts'
import { listen } from './listening.ts'
import { createLogger } from './log.ts'
import { loadIdentityProvider } from './oidc.ts'
import { loadOpenTelemetry } from './open-telemetry.ts'
import { openRedis } from './shared-redis.ts'
import type { Store } from './store.ts'
import { loadPayments } from './stripe.ts'
import { withWorkerLabel } from './worker-metrics.ts'

/** A running server. */
export interface Standalone {
  /** The URL of the server, such as `http://127.0.0.1:4400`. */
  readonly url: string
  /** Ends pending polls, closes sockets with 1001, waits for requests, and closes the store. */
  close(): Promise<void>
}

/** The time limits in milliseconds for clients that send headers or a request slowly. */
const SLOW_SENDERS = {
  headersTimeout: 20_000,
  requestTimeout: 40_000,
  connectionsCheckingInterval: 5_000,
} as const

/** Starts a server with this store in this process. */
export async function serve(config: Config, store: Store): Promise<Standalone> {
  adaptHeap(config.limits)
  const flags = await createFlags(config, store)
  try {
    await flags.start()
    const { worker } = cluster
    const answering = worker === undefined ? flags : withWorkerLabel(flags, worker.id)
    const { basePath, keepAliveMs } = config
    const listener = withPages(config, toNodeHandler(answering))
    const server = createServer(
      { ...SLOW_SENDERS, keepAliveTimeout: keepAliveMs },
      withBasePath(basePath, listener),
    )
    attachWebSocket(server, flags)
    if (basePath !== '') attachWebSocket(server, flags, { basePath: '' })
    const shutDown = createShutdown(server, flags)
    const url = (await listen(server, config)) + basePath
    const stopTraffic = startTraffic(config, flags)
    return {
      url,
      close: () => {
        stopTraffic()
        return shutDown()
      },
    }
  } catch (error) {
    await flags.close()
    throw error
  }
}

/** Creates a flag server from the settings. It is not started. */
export async function createFlags(config: Config, store: Store): Promise<FlagServer<As>> {
  const management = createManagement({
    ...config.limits,
    secretKey: await secretKeysOf(config),
    webhooks: { allowLoopback: config.webhooksAllowLoopback },
    ...(await loadPayments(config.stripe)),
    ...(await loadIdentityProvider(config)),
    ...(config.administrator && { administrator: config.administrator }),
    adminToken: config.adminToken,
  })
  const { snapshotDir } = config
  const logger = createLogger(config.log)
  return createFlagServer({
    ...store,
    ...openRedis(config, logger),
    ...config.limits,
    ...(snapshotDir !== undefined && { snapshots: snapshotFolder({ path: snapshotDir }) }),
    management,
    basePath: config.basePath,
    jobs: config.jobs,
    metricsArePublic: config.metricsArePublic,
    trustProxy: config.trustProxy,
    logger,
    ...(await loadOpenTelemetry()),
  })
}

/** Starts the demo traffic if it is enabled, in one of several processes. Returns its end. */
function startTraffic({ demoTraffic, log }: Config, flags: FlagServer<As>): Cancel {
  const isFirst = cluster.worker === undefined || cluster.worker.id === 1
  if (!demoTraffic || !isFirst) return () => undefined
  return startDemoTraffic({ flags, logger: createLogger(log) })
}

/**
 * Returns a listener that adds the base path to requests without it, because some proxies remove
 * the prefix of a path, and probes do not know it.
 */
function withBasePath(basePath: string, next: RequestListener): RequestListener {
  if (basePath === '') return next
  const isBelow = new RegExp(`^${basePath.replaceAll('.', '\\.')}(?:[/?]|$)`)
  return (request, response) => {
    const { url = '/' } = request
    if (url.startsWith('/') && !isBelow.test(url)) request.url = basePath + url
    next(request, response)
  }
}

/**
 * Returns a listener that serves the dashboard, redirects the base path to it (or to `/docs` if it
 * is disabled), and passes other requests to `next`.
 */
function withPages(
  { dashboard, basePath: apiPath }: Pick<Config, 'dashboard' | 'basePath'>,
  next: RequestListener,
): RequestListener {
  if (!dashboard) return withStartPage(apiPath, 'docs', next)
  const basePath = `${apiPath}/${DASHBOARD}`
  const serveDashboard = toDashboardHandler(createDashboard({ basePath, apiPath }))
  return withStartPage(apiPath, DASHBOARD, (request, response) =>
    serveDashboard(request, response, () => next(request, response)),
  )
}

/** Returns a listener that redirects the base path to a page and passes other requests to `next`. */
function withStartPage(basePath: string, page: string, next: RequestListener): RequestListener {
  // Without a base path, the relative URL is also correct behind a proxy that removes a prefix.
  const location = basePath === '' ? page : `${basePath}/${page}`
  return (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const { url = '' } = request
    const isStart = url.startsWith(basePath) && /^\/?(?:\?|$)/.test(url.slice(basePath.length))
    if (!isRead || !isStart) return next(request, response)
    response.writeHead(302, { Location: location, 'Cache-Control': 'no-cache' }).end()
  }
}
