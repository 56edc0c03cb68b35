// Serves a data file over HTTP and WebSocket until it is killed. Parameters: the file, the port, an
// access token, the key of a project or an empty text, and the maximum bytes of flag sets or an empty
// text for the default. Creates the project with the flag `counter`. Prints `listening`.
import { createServer } from 'node:http'
import { defineFlags, text } from '@ff/core/flag-types'
import { createManagement, SYSTEM } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'

const [path = '', port = '', adminToken = '', project = '', flagSetBytes = ''] =
  process.argv.slice(2)
const flags = createFlagServer({
  ...sqlite({ path }),
  ...(flagSetBytes !== '' && { maxFlagSetBytes: Number(flagSetBytes) }),
  // Drills write as fast as the store permits, with one token.
  management: createManagement({ adminToken, managementRateLimit: 1_000_000 }),
})
const program = defineFlags({ counter: text('value 0') })
if (project === '') await flags.start()
else await flags.as(SYSTEM).ensureProject({ key: project, flags: program })
const server = createServer(toNodeHandler(flags))
attachWebSocket(server, flags)
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('listening\n'))
