// One of two servers. Reads DATABASE_URL, REDIS_URL, SNAPSHOT_DIR and ADMIN_TOKEN, and sends its URL to
// the process that started it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createManagement, SYSTEM } from '@ff/management/node'
import { createFlagServer, silentLogger } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { postgres } from '@ff/storage/postgres'
import { redis } from '@ff/storage/redis'
import { snapshotFolder } from '@ff/storage/snapshots'
import { shopFlags } from './flags.ts'

const { DATABASE_URL = '', REDIS_URL = '', SNAPSHOT_DIR = '', ADMIN_TOKEN = '' } = process.env

// #region server
const flags = createFlagServer({
  ...postgres({ url: DATABASE_URL, listenUrl: false }),
  ...redis({ url: REDIS_URL }),
  snapshots: snapshotFolder({ path: SNAPSHOT_DIR }),
  management: createManagement({ adminToken: ADMIN_TOKEN }),
  logger: { ...silentLogger, warn: print, error: print },
})
await flags.as(SYSTEM).ensureProject({ key: 'shop', flags: shopFlags })

const server = createServer(toNodeHandler(flags))
attachWebSocket(server, flags)
// #endregion

/** Prints a message of the log without its fields. */
function print(message: string): void {
  console.log(`${process.pid}: ${message}`)
}

server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

process.once('disconnect', async () => {
  server.close()
  await flags.close()
  process.exit(0)
})
