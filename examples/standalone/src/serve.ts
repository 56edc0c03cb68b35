import cluster from 'node:cluster'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type As, tokenAuthenticator } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer, type FlagServer, systemClock } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import type { Capabilities } from '@ff/storage'
import { orAdministrator } from './administrator.ts'
import type { Config } from './config.ts'
import { consoleLogger } from './console-logger.ts'
import { withDocsPage } from './docs-page.ts'
import { loadIdentityProvider } from './oidc.ts'
import { secretKeysOf } from './secret-key.ts'
import { loadPayments } from './stripe.ts'
import { withWorkerLabel } from './worker-metrics.ts'

/** A running server. */
export interface Standalone {
  /** The URL of the server, such as `http://127.0.0.1:4400`. */
  readonly url: string
  /** Ends pending polls, closes sockets with 1001, waits for requests, and closes the store. */
  close(): Promise<void>
}

type Store = Capabilities & Required<Pick<Capabilities, 'storage'>>

/** The time limits in milliseconds for clients that send headers or a request slowly. */
const SLOW_SENDERS = {
  headersTimeout: 20_000,
  requestTimeout: 40_000,
  connectionsCheckingInterval: 5_000,
} as const

/** Starts a server with this store in this process. */
export async function serve(config: Config, store: Store): Promise<Standalone> {
  const flags = await createFlags(config, store)
  try {
    await flags.start()
    const { worker } = cluster
    const answering = worker === undefined ? flags : withWorkerLabel(flags, worker.id)
    const server = createServer(SLOW_SENDERS, withDocsPage(toNodeHandler(answering)))
    attachWebSocket(server, flags)
    const url = await listen(server, config)
    return { url, close: () => close(server, flags) }
  } catch (error) {
    await flags.close()
    throw error
  }
}

/** Creates a flag server from the settings. It is not started. */
export async function createFlags(config: Config, store: Store): Promise<FlagServer<As>> {
  const management = createManagement({
    ...config.limits,
    secretKey: await secretKeysOf(config.dataDir, config.secretKeys),
    webhooks: { allowLoopback: config.webhooksAllowLoopback },
    ...(await loadPayments(config.stripe)),
    ...(await loadIdentityProvider(config)),
    ...(config.administrator && { administrator: config.administrator }),
    authenticateBearer: orAdministrator(
      config.adminToken,
      tokenAuthenticator(store.storage, systemClock),
    ),
  })
  return createFlagServer({
    ...store,
    ...config.limits,
    management,
    metricsArePublic: config.metricsArePublic,
    trustProxy: config.trustProxy,
    logger: consoleLogger,
  })
}

/** The length of the accept queue; large enough for many clients that reconnect at once. */
const MAX_BACKLOG = 4096

/** Starts to listen and returns the URL. Rejects if the address is not available. */
export async function listen(
  server: Server,
  { host, port }: Pick<Config, 'host' | 'port'>,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: MAX_BACKLOG }, resolve)
  })
  const address = server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${name}:${address.port}`
}

async function close(server: Server, flags: FlagServer): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()))
  await flags.close()
  // Clients keep idle connections open, and `server.close` waits for them.
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  await ended
  clearInterval(sweep)
}
