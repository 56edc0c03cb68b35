// Serves a data file over HTTP and WebSocket until it is told to stop, as a host would.
// Parameters: the file; how many sockets may be opened in a second. Prints `listening PORT`.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sqlite } from '@ff/storage/sqlite'
import { createFlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { attachWebSocket } from '../../src/node/websocket.ts'

/** As the standalone server has them. */
const SLOW_SENDERS = {
  headersTimeout: 20_000,
  requestTimeout: 40_000,
  connectionsCheckingInterval: 5_000,
} as const

const [path = '', newSockets] = process.argv.slice(2)
const flags = createFlagServer({
  ...sqlite({ path }),
  trustProxy: true,
  ...(newSockets !== undefined && { maxNewSocketsPerSecond: Number(newSockets) }),
})
await flags.start()
const server = createServer(SLOW_SENDERS, toNodeHandler(flags))
attachWebSocket(server, flags)
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => void stop())

async function stop(): Promise<void> {
  const ended = new Promise((resolve) => server.close(resolve))
  await flags.close()
  const sweep = setInterval(() => server.closeIdleConnections(), 20)
  await ended
  clearInterval(sweep)
  process.exit(0)
}
