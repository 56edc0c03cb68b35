import { once } from 'node:events'
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { createDashboard } from '../../src/handler/index.ts'
import { toNodeHandler } from '../../src/handler/node.ts'
import { fixtureApp, SCRIPT } from './fixture-app.ts'

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

interface Answer {
  readonly response: IncomingMessage
  readonly body: Buffer
}

/** Sends a path as it is. `fetch` would change some of them. */
async function send(port: number, path: string, options: object = {}): Promise<Answer> {
  const request = httpRequest({ host: '127.0.0.1', port, path, ...options })
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { response, body: Buffer.concat(await response.toArray()) }
}

const handler = () => toNodeHandler(createDashboard({ basePath: '/ui', folder: fixtureApp() }))

it('A Node server sends the files with their encodings and validators', async () => {
  const port = await listen(handler())
  const headers = { 'accept-encoding': 'gzip, br' }
  const { response, body } = await send(port, '/ui/assets/index-1234.js', { headers })
  expect(response.statusCode).toBe(200)
  expect(response.headers['content-encoding']).toBe('br')
  expect(response.headers['content-length']).toBe(String(body.length))
  expect(brotliDecompressSync(body).toString()).toBe(SCRIPT)
  const known = { headers: { ...headers, 'if-none-match': response.headers.etag } }
  const again = await send(port, '/ui/assets/index-1234.js', known)
  expect([again.response.statusCode, again.body.length]).toEqual([304, 0])
})

it('HEAD on a Node server has the length of the content and no body', async () => {
  const { response, body } = await send(await listen(handler()), '/ui', { method: 'HEAD' })
  expect(response.statusCode).toBe(200)
  expect(Number(response.headers['content-length'])).toBeGreaterThan(100)
  expect(body.length).toBe(0)
})

it.each(['POST', 'TRACE', 'PROPFIND'])('A Node server refuses %s with 405', async (method) => {
  const { response } = await send(await listen(handler()), '/ui', { method })
  expect([response.statusCode, response.headers.allow]).toEqual([405, 'GET, HEAD'])
})

it.each(['/ui/../../../etc/passwd', '/ui/assets/../../../etc/passwd', '/../etc/passwd'])(
  'A Node server passes the path %s, which leads out of the base, on',
  async (path) => {
    expect((await send(await listen(handler()), path)).response.statusCode).toBe(404)
  },
)

it.each(['http://other.test/ui', '*', '//[', '/uix'])(
  'A Node server answers %s, which is not below the base, with 404',
  async (path) => {
    expect((await send(await listen(handler()), path)).response.statusCode).toBe(404)
  },
)

it('A handler below a mount uses the whole URL, and calls next for other paths', async () => {
  const handle = handler()
  const port = await listen((request, response) => {
    const originalUrl = request.url ?? ''
    Object.assign(request, { originalUrl, url: originalUrl.replace(/^\/ui/, '') || '/' })
    handle(request, response, () => response.writeHead(418).end())
  })
  expect((await send(port, '/ui/p/1')).body.toString()).toContain('<base href="/ui/">')
  expect((await send(port, '/other')).response.statusCode).toBe(418)
})
