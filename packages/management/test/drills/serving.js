// Serves a store over HTTP and WebSocket until SIGTERM, as a host would. Prints `listening PORT`.
// Parameters: the path of a data file or the URL of a PostgreSQL database, the maximum number of
// new sockets per second, the maximum bytes of contexts, and options of `postgres` and of `redis` as
// JSON; the last four may be empty for the defaults, and no Redis.
import { createServer } from 'node:http'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { postgres } from '@ff/storage/postgres'
import { redis } from '@ff/storage/redis'
import { sqlite } from '@ff/storage/sqlite'

/** The time limits of the standalone server. */
const SLOW_SENDERS = {
  headersTimeout: 20_000,
  requestTimeout: 40_000,
  connectionsCheckingInterval: 5_000,
}

const [
  location = '',
  newSockets = '',
  heldContextBytes = '',
  postgresOptions = '',
  redisOptions = '',
] = process.argv.slice(2)
const store = location.startsWith('postgres:')
  ? postgres({ url: location, ...JSON.parse(postgresOptions || '{}') })
  : sqlite({ path: location })
const flags = createFlagServer({
  ...store,
  ...(redisOptions !== '' && redis(JSON.parse(redisOptions))),
  trustProxy: true,
  // Drills write as fast as the store permits, with one token.
  management: createManagement({ managementRateLimit: 1_000_000 }),
  ...(newSockets !== '' && { maxNewSocketsPerSecond: Number(newSockets) }),
  ...(heldContextBytes !== '' && { maxHeldContextBytes: Number(heldContextBytes) }),
})
await flags.start()
const server = createServer(SLOW_SENDERS, toNodeHandler(flags))
attachWebSocket(server, flags)
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${server.address().port}\n`)
})
process.once('SIGTERM', () => void stop())

async function stop() {
  const ended = new Promise((resolve) => server.close(resolve))
  await flags.close()
  const sweep = setInterval(() => server.closeIdleConnections(), 20)
  await ended
  clearInterval(sweep)
  process.exit(0)
}
