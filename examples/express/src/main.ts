import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import type { Actor } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'
import express from 'express'

// #region embed
const flags = createFlagServer({
  ...sqlite({ path: ':memory:' }),
  basePath: '/flags',
  management: createManagement(),
})
const app = express()

app.use(express.json())
app.use('/flags', toNodeHandler(flags))
app.get('/', async (_request, response) => {
  const { maintenance } = await flags.allOrThrow({ environmentId }, {})
  response.send(maintenance === true ? 'Back soon.' : 'Welcome.')
})

const server = app.listen(0, '127.0.0.1')
attachWebSocket(server, flags)
// #endregion

const me: Actor = { id: 'me', email: '', name: 'Set-up script', role: 'platform', orgId: null }
await flags.start()
const management = flags.as(me)
const { id: orgId } = await management.createOrganization({ body: { name: 'Example' } })
const { id: projectId, environments } = await management.createProject({
  params: { orgId },
  body: { key: 'site' },
})
const environmentId = environments[0]?.id ?? ''
const params = { projectId, environmentId }
await management.createFlag({ params, body: { key: 'maintenance', type: 'boolean' } })
const { key: sdkKey } = await management.createSdkKey({
  params,
  body: { name: 'Example', kind: 'client' },
})

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const page = await (await fetch(url)).text()
assert.equal(page, 'Welcome.')
console.log('Response of the app:', page)

// express.json() reads this body first. The mounted server uses the parsed body.
const response = await fetch(`${url}/flags/evaluator/evaluate`, {
  method: 'POST',
  headers: { 'x-api-key': sdkKey, 'content-type': 'application/json' },
  body: JSON.stringify({ context: { kind: 'user', key: 'user-1' } }),
})
const values = await response.json()
assert.equal(response.status, 200)
assert.deepEqual(values, { maintenance: false })
console.log('Response of the mounted server:', values)

server.close()
server.closeAllConnections()
await flags.close()
