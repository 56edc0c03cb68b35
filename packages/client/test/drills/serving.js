// Serves a data file over HTTP and WebSocket until it is killed. Parameters: the file, the port and
// an access token. Creates the project `shop` with the flag `counter`. Prints `listening`.
import { createServer } from 'node:http'
import { defineFlags, text } from '@ff/core/flag-types'
import { createManagement, SYSTEM } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'

const [path = '', port = '', adminToken = ''] = process.argv.slice(2)
const flags = createFlagServer({
  ...sqlite({ path }),
  management: createManagement({ adminToken }),
})
const program = defineFlags({ counter: text('value 0') })
await flags.as(SYSTEM).ensureProject({ key: 'shop', flags: program })
const server = createServer(toNodeHandler(flags))
attachWebSocket(server, flags)
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('listening\n'))
