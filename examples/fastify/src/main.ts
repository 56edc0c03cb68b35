import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, createShutdown, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'
import { checkHost, createExampleProject } from '@ff-examples/host-check'
import { fastify } from 'fastify'

// #region embed
const LIVE = { project: 'site', environment: 'live' }
const flags = createFlagServer({
  ...sqlite({ path: ':memory:' }),
  basePath: '/flags',
  management: createManagement(),
})
const serveFlags = toNodeHandler(flags)
const app = fastify({ bodyLimit: 2 * 1024 * 1024, keepAliveTimeout: 76_000 })

app.all('/flags/*', (request, reply) => {
  reply.hijack()
  serveFlags(Object.assign(request.raw, { body: request.body }), reply.raw)
})
app.get('/', async () => {
  const maintenance = await flags.value(LIVE, 'maintenance', {}, false)
  return maintenance ? 'Back soon.' : 'Welcome.'
})
app.addHook('preClose', createShutdown(app.server, flags))

await app.listen({ host: '127.0.0.1', port: 0 })
attachWebSocket(app.server, flags)
// #endregion

const project = await createExampleProject(flags)

const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
const page = await (await fetch(url)).text()
assert.equal(page, 'Welcome.')
console.log('Response of the app:', page)

// Fastify reads the bodies first. The mounted server uses the parsed bodies.
await checkHost({ url: `${url}/flags`, project, hasSocket: true })
assert.equal((await fetch(`${url}/elsewhere`)).status, 404)

await app.close()
