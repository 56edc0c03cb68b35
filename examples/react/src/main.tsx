import { createReadStream } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { serializeSnapshot } from '@ff/client'
import { createManagement, SYSTEM } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'
import { StrictMode } from 'react'
import { renderToPipeableStream } from 'react-dom/server'
import { shopFlags } from './flags.ts'
import { contextOf } from './page-data.ts'
import { Shop } from './shop.tsx'

const flags = createFlagServer({
  ...sqlite({ path: process.env['DATA_FILE'] ?? ':memory:' }),
  basePath: '/flags',
  management: createManagement({ adminToken: process.env['FF_ADMIN_TOKEN'] }),
})
const system = flags.as(SYSTEM)
await system.ensureProject({ key: 'shop', flags: shopFlags })
const live = { project: 'shop', environment: 'live' }
const { key: sdkKey } = await system.createSdkKey({
  params: { projectId: 'shop', environmentId: 'live' },
  body: { name: 'Pages', kind: 'client' },
})

const port = Number(process.env['PORT'] ?? 3000)
const origin = process.env['ORIGIN'] ?? `http://localhost:${port}`
const url = `${origin}/flags`
const PAGE = join(import.meta.dirname, '../page')
const SCRIPT = /^\/[\w.-]+\.js$/

const handle = toNodeHandler(flags)
const server = createServer((request, response) => {
  handle(request, response, async () => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    if (SCRIPT.test(pathname)) {
      response.setHeader('content-type', 'text/javascript')
      createReadStream(join(PAGE, pathname))
        .on('error', () => response.end())
        .pipe(response)
      return
    }
    await sendPage(response, searchParams.get('user')?.replace(/\W/g, '') ?? '')
  })
})

// #region server
/** Streams the page of a user. The snapshot is in the page, so that the browser renders the same. */
async function sendPage(response: ServerResponse, user: string): Promise<void> {
  const snapshot = await flags.snapshot(live, contextOf(user))
  const shop = <Shop user={user} url={url} sdkKey={sdkKey} snapshot={snapshot} />
  const stream = renderToPipeableStream(<StrictMode>{shop}</StrictMode>, {
    onShellReady() {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.write(`<!doctype html>
<title>Shop</title>
<link rel="icon" href="data:,">
<script type="module" src="/page.js"></script>
<body data-user="${user}" data-url="${url}" data-key="${sdkKey}">
<script type="application/json" id="snapshot">${serializeSnapshot(snapshot)}</script>
<div id="root">`)
      stream.pipe(response)
    },
    onShellError: () => response.writeHead(500).end(),
  })
}
// #endregion

attachWebSocket(server, flags)
server.listen(port, () => console.log(`Open ${origin}`))
