import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, createShutdown } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'
import { checkHost, createExampleProject } from '@ff-examples/host-check'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'

// #region embed
const LIVE = { project: 'site', environment: 'live' }
const flags = createFlagServer({
  ...sqlite({ path: ':memory:' }),
  basePath: '/flags',
  management: createManagement(),
})
const app = new Hono()

app.all('/flags/*', (c) => flags.fetch(c.req.raw, getConnInfo(c).remote))
app.get('/', async (c) => {
  const maintenance = await flags.value(LIVE, 'maintenance', {}, false)
  return c.text(maintenance ? 'Back soon.' : 'Welcome.')
})

const server = serve({
  ...{ fetch: app.fetch, hostname: '127.0.0.1', port: 0 },
  serverOptions: { keepAliveTimeout: 76_000 },
}) as Server
attachWebSocket(server, flags)
const shutDown = createShutdown(server, flags)
// #endregion

const project = await createExampleProject(flags)

if (!server.listening) await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
assert.equal(await (await fetch(url)).text(), 'Welcome.')

await checkHost({ url: `${url}/flags`, project, hasSocket: true })
assert.equal((await fetch(`${url}/elsewhere`)).status, 404)

// `app.mount` removes its path from the URL unless `replaceRequest` is false. The flag server finds
// its base path only in the complete URL.
const healthOf = async (host: Hono) => (await host.request('/flags/health')).status
assert.equal(await healthOf(new Hono().mount('/flags', flags.fetch)), 404)
const unchanged = { replaceRequest: false } as const
assert.equal(await healthOf(new Hono().mount('/flags', flags.fetch, unchanged)), 200)
assert.equal(await healthOf(new Hono().mount('/', flags.fetch)), 200)

await shutDown()
