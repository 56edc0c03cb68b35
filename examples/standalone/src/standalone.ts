import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createFlagServer, type FlagServer, systemClock, tokenAuthenticator } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'
import { orAdministrator } from './administrator.ts'
import type { Config } from './config.ts'
import { consoleLogger } from './console-logger.ts'
import { withDocsPage } from './docs-page.ts'
import { fillNewStore } from './first-start.ts'
import { introduce } from './introduction.ts'
import { loadIdentityProvider } from './oidc.ts'
import { secretKeysOf } from './secret-key.ts'
import { loadPayments } from './stripe.ts'

export interface Standalone {
  /** Where it listens, such as `http://127.0.0.1:4400`. */
  readonly url: string
  /** Answers parked polls, closes sockets with 1001, lets requests end, and closes the store. */
  close(): Promise<void>
}

/** Whoever takes longer than this, in milliseconds, to send headers or a request is cut off. */
const SLOW_SENDERS = {
  headersTimeout: 20_000,
  requestTimeout: 40_000,
  connectionsCheckingInterval: 5_000,
} as const

/** Opens the store (filling a new one), listens, and prints where and how it can be used. */
export async function startStandalone(
  config: Config,
  print: (line: string) => void,
): Promise<Standalone> {
  const path = join(config.dataDir, 'ff.sqlite')
  const secrets = await fillNewStore(path, config.adminToken)
  const store = sqlite({ path })
  const flags = createFlagServer({
    ...store,
    metricsArePublic: config.metricsArePublic,
    secretKey: await secretKeysOf(config.dataDir, config.secretKeys),
    webhooks: { allowLoopback: config.webhooksAllowLoopback },
    ...(await loadPayments(config.stripe)),
    ...(await loadIdentityProvider(config)),
    ...(config.administrator && { administrator: config.administrator }),
    trustProxy: config.trustProxy,
    logger: consoleLogger,
    authenticateBearer: orAdministrator(
      config.adminToken,
      tokenAuthenticator(store.storage, systemClock),
    ),
  })
  try {
    await flags.start()
    const server = createServer(SLOW_SENDERS, withDocsPage(toNodeHandler(flags)))
    attachWebSocket(server, flags)
    const url = await listen(server, config)
    for (const line of introduce(url, config, secrets)) print(line)
    return { url, close: () => close(server, flags) }
  } catch (error) {
    await flags.close()
    throw error
  }
}

async function listen(server: Server, { host, port }: Config): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
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
