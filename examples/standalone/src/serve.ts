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

export interface Standalone {
  /** Where it listens, such as `http://127.0.0.1:4400`. */
  readonly url: string
  /** Answers parked polls, closes sockets with 1001, lets requests end, and closes the store. */
  close(): Promise<void>
}

type Store = Capabilities & Required<Pick<Capabilities, 'storage'>>

/** Whoever takes longer than this, in milliseconds, to send headers or a request is cut off. */
const SLOW_SENDERS = {
  headersTimeout: 20_000,
  requestTimeout: 40_000,
  connectionsCheckingInterval: 5_000,
} as const

/** Serves this store in this process. */
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

/** The flag server that these settings describe, which has not started. */
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

/** How many connections may wait to be accepted: of a crowd that comes at once none should be lost. */
const MOST_WAITING = 4096

/** Begins to listen, and answers where. */
export async function listen(
  server: Server,
  { host, port }: Pick<Config, 'host' | 'port'>,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: MOST_WAITING }, resolve)
  })
  const address = server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${name}:${address.port}`
}

async function close(server: Server, flags: FlagServer): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()))
  await flags.close()
  // Clients keep their connections open after the last answer; nothing more will come.
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  await ended
  clearInterval(sweep)
}
