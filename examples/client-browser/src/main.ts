import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { serializeSnapshot } from '@ff/client'
import { createManagement, SYSTEM } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { shopFlags } from './flags.ts'

const management = createManagement({ adminToken: process.env['FF_ADMIN_TOKEN'] })
const flags = createFlagServer({ basePath: '/flags', management })
const system = flags.as(SYSTEM)
await system.ensureProject({ key: 'shop', flags: shopFlags })
const live = { project: 'shop', environment: 'live' }
const { key: sdkKey } = await system.createSdkKey({
  params: { projectId: 'shop', environmentId: 'live' },
  body: { name: 'Pages', kind: 'client' },
})

const script = readFileSync(join(import.meta.dirname, 'page.js'))
const handle = toNodeHandler(flags)
const server = createServer((request, response) => {
  handle(request, response, async () => {
    if (request.url === '/page.js') {
      response.setHeader('content-type', 'text/javascript').end(script)
      return
    }
    const page = await pageFor({ kind: 'user', key: 'user-1', plan: 'pro' })
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page)
  })
})

// #region snapshot
/** Returns the page for a context. It contains the values, so that it shows them immediately. */
async function pageFor(context: { kind: string; key: string; plan: string }): Promise<string> {
  const snapshot = await flags.snapshot(live, context)
  return `<!doctype html>
<title>Shop</title>
<link rel="icon" href="data:,">
<body data-key="${sdkKey}"><button></button>
<script type="application/json" id="flags">${serializeSnapshot(snapshot)}</script>
<script type="module" src="/page.js"></script>`
}
// #endregion

attachWebSocket(server, flags)
server.listen(Number(process.env['PORT'] ?? 3000), () => {
  console.log(`Open http://localhost:${process.env['PORT'] ?? 3000}`)
})
