// #region embed
import { createServer } from 'node:http'
import { bool, defineFlags } from '@ff/core/typed-flags'
import { createManagement, SYSTEM } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, createShutdown, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'

const management = createManagement({ adminToken: process.env['FF_ADMIN_TOKEN'] })
const flags = createFlagServer({ ...sqlite({ path: 'flags.db' }), basePath: '/flags', management })
await flags.as(SYSTEM).ensureProject({ key: 'shop', flags: defineFlags({ welcome: bool(false) }) })

const handle = toNodeHandler(flags)
const server = createServer({ keepAliveTimeout: 76_000 }, (request, response) => {
  handle(request, response, async () => {
    const isOn = await flags.value({ project: 'shop', environment: 'live' }, 'welcome', {}, false)
    response.end(isOn ? 'Good to see you!' : 'Hello.')
  })
})
attachWebSocket(server, flags)
process.once('SIGTERM', createShutdown(server, flags))
server.listen(process.env['PORT'] ?? 3000)
// #endregion
