import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createDashboard } from '@ff/dashboard'
import { toNodeHandler as toDashboardHandler } from '@ff/dashboard/node'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, createShutdown, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'
import { checkHost, createExampleProject } from '@ff-examples/host-check'
import express from 'express'
import { checkDashboard } from './check-dashboard.ts'
import { checkUsers } from './check-users.ts'
import { identifyUser } from './identify-user.ts'
import { readSession } from './sessions.ts'

// #region embed
const LIVE = { project: 'site', environment: 'live' }
const flags = createFlagServer({
  ...sqlite({ path: ':memory:' }),
  basePath: '/flags',
  management: createManagement({ users: false, identifyUser }),
})
const dashboard = createDashboard({ basePath: '/flags-ui', apiPath: '/flags' })
const app = express()

app.use(express.json())
app.use(readSession)
app.use('/flags', toNodeHandler(flags))
app.use('/flags-ui', toDashboardHandler(dashboard))
app.get('/', async (_request, response) => {
  const maintenance = await flags.value(LIVE, 'maintenance', {}, false)
  response.send(maintenance ? 'Back soon.' : 'Welcome.')
})

const server = createServer({ keepAliveTimeout: 76_000 }, app)
attachWebSocket(server, flags)
const shutDown = createShutdown(server, flags)
server.listen(0, '127.0.0.1')
// #endregion

const project = await createExampleProject(flags)

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const page = await (await fetch(url)).text()
assert.equal(page, 'Welcome.')
console.log('Response of the app:', page)

// express.json() reads the bodies first. The mounted server uses the parsed bodies.
await checkHost({ url: `${url}/flags`, project, hasSocket: true })
await checkUsers({ url, project })
await checkDashboard(url)

await shutDown()
