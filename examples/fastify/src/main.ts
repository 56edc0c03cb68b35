import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import type { Actor } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'
import { fastify } from 'fastify'

// #region embed
const flags = createFlagServer({
  ...sqlite({ path: ':memory:' }),
  basePath: '/flags',
  management: createManagement(),
})
const serveFlags = toNodeHandler(flags)
const app = fastify({ bodyLimit: 2 * 1024 * 1024 })

app.all('/flags/*', (request, reply) => {
  reply.hijack()
  serveFlags(Object.assign(request.raw, { body: request.body }), reply.raw)
})
app.get('/', async () => {
  const { maintenance } = await flags.allOrThrow({ environmentId }, {})
  return maintenance === true ? 'Back soon.' : 'Welcome.'
})
app.addHook('onClose', () => flags.close())

await app.listen({ host: '127.0.0.1', port: 0 })
attachWebSocket(app.server, flags)
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

const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
const page = await (await fetch(url)).text()
assert.equal(page, 'Welcome.')
console.log('Response of the app:', page)

// Fastify reads this body first. The mounted server uses the parsed body.
const response = await fetch(`${url}/flags/evaluator/evaluate`, {
  method: 'POST',
  headers: { 'x-api-key': sdkKey, 'content-type': 'application/json' },
  body: JSON.stringify({ context: { kind: 'user', key: 'user-1' } }),
})
const values = await response.json()
assert.equal(response.status, 200)
assert.deepEqual(values, { maintenance: false })
console.log('Response of the mounted server:', values)

const refused = await fetch(`${url}/flags/projects/${projectId}/flags`)
assert.equal(refused.status, 401)
assert.equal((await fetch(`${url}/elsewhere`)).status, 404)

app.server.closeAllConnections()
await app.close()
