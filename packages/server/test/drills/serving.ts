// Serves a data file over HTTP and WebSocket until it is told to stop, as a host would.
// Parameters: the file. Prints `listening PORT`.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sqlite } from '@ff/storage/sqlite'
import { createFlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { attachWebSocket } from '../../src/node/websocket.ts'

const [path = ''] = process.argv.slice(2)
const flags = createFlagServer({ ...sqlite({ path }), trustProxy: true })
await flags.start()
const server = createServer(toNodeHandler(flags))
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
