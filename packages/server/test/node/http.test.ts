import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import type { FlagServerOptions } from '../../src/options.ts'
import { allInMemory } from '../capabilities.ts'
import { until } from '../fake-clock.ts'
import { untilPending } from '../live-clients.ts'
import { addSdkKey, flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { type Listening, listen } from './listening.ts'
import { evaluateRequest, RawConnection } from './raw-connection.ts'

let memory: ReturnType<typeof allInMemory>
let live: SeededEnvironment
const open: { close(): Promise<void> }[] = []

beforeEach(async () => {
  memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  return async () => {
    for (const one of open.splice(0).reverse()) await one.close()
  }
})

function createFlags(options: FlagServerOptions = {}): FlagServer {
  const flags = createFlagServer({ ...memory, ...options })
  open.push(flags)
  return flags
}

async function serve(listener: RequestListener): Promise<Listening> {
  const listening = await listen(listener)
  open.push(listening)
  return listening
}

const headers = () => ({ 'x-api-key': live.sdkKey, 'content-type': 'application/json' })
const body = JSON.stringify({ context: { kind: 'user', key: 'user-1' } })
const post = (url: string, path = '/evaluator/evaluate') =>
  fetch(url + path, { method: 'POST', headers: headers(), body })

describe('toNodeHandler under node:http', () => {
  it('The flag set is compressed with the encoding that the client prefers', async () => {
    const { url } = await serve(toNodeHandler(createFlags()))
    const { sdkKey } = await addSdkKey(memory.storage, live, { kind: 'server' })
    const long = textFlag('long', 'x'.repeat(2000))
    await publish(memory, live.environmentId, flagChange(long))
    const replies: [encoding: string | null, length: string | null, body: unknown][] = []
    for (const encoding of ['identity', 'gzip', 'gzip, deflate, br']) {
      const init = { headers: { 'x-api-key': sdkKey, 'accept-encoding': encoding } }
      const response = await fetch(`${url}/evaluator/flag-set`, init)
      const { headers } = response
      replies.push([
        headers.get('content-encoding'),
        headers.get('content-length'),
        await response.json(),
      ])
    }
    expect(replies.map(([encoding]) => encoding)).toEqual([null, 'gzip', 'br'])
    const [plain, gzip, br] = replies
    for (const reply of [gzip, br]) {
      expect(reply?.[2]).toEqual(plain?.[2])
      expect(Number(reply?.[1])).toBeLessThan(Number(plain?.[1]) / 2)
    }
  })

  it('Replies have a Content-Length and reuse the connection', async () => {
    const { url } = await serve(toNodeHandler(createFlags()))
    for (let round = 0; round < 3; round += 1) {
      const response = await post(url)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-length')).toBe('18')
      expect(response.headers.get('transfer-encoding')).toBeNull()
      expect(await response.json()).toEqual({ banner: 'hello' })
    }
  })

  it('A connection serves another request if the body of a refused request arrives after the reply', async () => {
    const { port } = await serve(toNodeHandler(createFlags()))
    const connection = await RawConnection.open(port)
    const rest = 'x'.repeat(500_000)
    for (let round = 0; round < 2; round += 1) {
      const head = evaluateRequest(`ff_${'0'.repeat(64)}`, rest).subarray(0, -rest.length)
      await connection.send(head)
      expect((await connection.answer())?.status).toBe(401)
      await connection.send(rest)
    }
    await connection.send(evaluateRequest(live.sdkKey, body))
    expect(await connection.answer()).toMatchObject({ status: 200, text: '{"banner":"hello"}' })
    connection.close()
  })

  it('Replies with 304, replies to preflight requests and replies to HEAD have no body', async () => {
    const { url } = await serve(toNodeHandler(createFlags()))
    const etag = (await post(url)).headers.get('etag') ?? ''
    const again = await fetch(`${url}/evaluator/evaluate`, {
      method: 'POST',
      headers: { ...headers(), 'if-none-match': etag },
      body,
    })
    expect([again.status, await again.text()]).toEqual([304, ''])
    const preflight = await fetch(`${url}/evaluator/evaluate`, { method: 'OPTIONS' })
    expect([preflight.status, await preflight.text()]).toEqual([204, ''])
    const head = await fetch(`${url}/evaluator/evaluate`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([405, ''])
    const health = await fetch(`${url}/health`, { method: 'HEAD' })
    expect([health.status, health.headers.get('content-length')]).toEqual([200, '56'])
  })

  it('A request with an absolute URL, as proxies send it, is served', async () => {
    const { url, port } = await serve(toNodeHandler(createFlags()))
    const path = `${url}/evaluator/evaluate?x=1`
    const request = httpRequest({ port, method: 'POST', path, headers: headers() }).end(body)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    expect([response.statusCode, await text(response)]).toEqual([200, '{"banner":"hello"}'])
  })

  it('A request outside the base path is passed to next, or receives 404 if the host passes no next', async () => {
    const handler = toNodeHandler(createFlags({ basePath: '/flags' }))
    const alone = await serve(handler)
    expect((await post(alone.url)).status).toBe(404)
    expect((await post(alone.url, '/flags/evaluator/evaluate')).status).toBe(200)
    const host = await serve((request, response) => {
      handler(request, response, () => response.writeHead(299).end())
    })
    expect((await post(host.url, '/flagship')).status).toBe(299)
    expect((await post(host.url, '/flags/evaluator/evaluate')).status).toBe(200)
    expect((await post(host.url, '/flags/nothing')).status).toBe(404)
  })

  it('A body that is too large receives 413, with and without Content-Length, and the server continues', async () => {
    const { url } = await serve(toNodeHandler(createFlags()))
    const large = JSON.stringify({ context: { kind: 'user', text: 'x'.repeat(400 * 1024) } })
    const chunked = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(large))
        controller.close()
      },
    })
    for (const sent of [large, chunked]) {
      const request = { method: 'POST', headers: headers(), body: sent, duplex: 'half' }
      const response = await fetch(`${url}/evaluator/evaluate`, request as RequestInit)
      expect(response.status).toBe(413)
      expect(await response.json()).toEqual({ error: expect.any(String), statusCode: 413 })
    }
    expect((await post(url)).status).toBe(200)
  })

  it('The connection of a client that never stops sending is closed', async () => {
    const { port } = await serve(toNodeHandler(createFlags()))
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    const head = `POST /evaluator/evaluate HTTP/1.1\r\nHost: a\r\nx-api-key: ${live.sdkKey}\r\n`
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
    let sent = 0
    const send = () => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length
    }
    socket.on('drain', send)
    send()
    await until(() => socket.destroyed)
    expect(sent).toBeLessThan(16 * 1024 * 1024)
  })

  it('A compressed body receives 400, and an incomplete body does not stop the server', async () => {
    const { url, port } = await serve(toNodeHandler(createFlags()))
    const socket = connect(port, '127.0.0.1')
    const head = `POST /evaluator/evaluate HTTP/1.1\r\nHost: a\r\nx-api-key: ${live.sdkKey}\r\n`
    socket.end(`${head}Content-Length: 100\r\n\r\n{"context"`)
    await text(socket)
    const compressed = await fetch(`${url}/evaluator/evaluate`, {
      method: 'POST',
      headers: { ...headers(), 'content-encoding': 'gzip' },
      body,
    })
    expect(compressed.status).toBe(400)
    expect((await post(url)).status).toBe(200)
  })

  it('A pending poll is removed when the client disconnects', async () => {
    const flags = createFlags({ maxLiveClients: 1, metricsArePublic: true })
    const { url } = await serve(toNodeHandler(flags))
    await post(url)
    for (let round = 0; round < 3; round += 1) {
      const leaver = new AbortController()
      const request = { method: 'POST', headers: headers(), body, signal: leaver.signal }
      const left = fetch(`${url}/evaluator/poll`, request).catch((error: Error) => error.name)
      await untilPending(flags, 1)
      expect((await post(url, '/evaluator/poll')).status).toBe(429)
      leaver.abort()
      expect(await left).toBe('AbortError')
      await untilPending(flags, 0)
    }
    const pending = post(url, '/evaluator/poll')
    await untilPending(flags, 1)
    await publish(memory, live.environmentId, flagChange(textFlag('banner', 'changed')))
    expect(await (await pending).json()).toEqual({ banner: 'changed' })
  })

  it('Every pending poll receives a reply when the server closes', async () => {
    const flags = createFlags({ metricsArePublic: true })
    const { url } = await serve(toNodeHandler(flags))
    await post(url)
    const pending = Array.from({ length: 20 }, () => post(url, '/evaluator/poll'))
    await untilPending(flags, 20)
    await flags.close()
    for (const response of await Promise.all(pending)) {
      expect([response.status, await response.json()]).toEqual([200, { banner: 'hello' }])
    }
  })
})

describe('toNodeHandler under a host that mounts it', () => {
  /**
   * Mounts a handler as Express does: `url` is relative to the mount path, and `originalUrl` is the
   * whole path.
   */
  async function mount(parse: (request: IncomingMessage) => Promise<unknown>): Promise<Listening> {
    const handler = toNodeHandler(createFlags({ basePath: '/flags' }))
    return serve(async (request, response) => {
      const originalUrl = request.url ?? ''
      const parsed = await parse(request)
      Object.assign(request, { originalUrl, url: originalUrl.slice('/flags'.length) })
      if (parsed !== undefined) Object.assign(request, { body: parsed })
      handler(request, response)
    })
  }

  const path = '/flags/evaluator/evaluate'

  it.each([
    ['nothing', async () => undefined],
    ['an object', async (request: IncomingMessage) => JSON.parse(await text(request))],
    ['text', (request: IncomingMessage) => text(request)],
    ['bytes', async (request: IncomingMessage) => Buffer.from(await text(request))],
    ['an empty object without reading', async () => ({})],
  ])('A request is served if the host has parsed its body to %s', async (_name, parse) => {
    const { url } = await mount(parse)
    const response = await post(url, path)
    expect([response.status, await response.json()]).toEqual([200, { banner: 'hello' }])
  })

  it('A request receives 400 if the host has read the body and discarded it', async () => {
    const { url } = await mount(async (request) => void (await text(request)))
    expect((await post(url, path)).status).toBe(400)
  })

  it('A body that the host has parsed is validated like any other body', async () => {
    const { url } = await mount(async (request) => JSON.parse(await text(request)))
    const send = (sent: string) =>
      fetch(url + path, { method: 'POST', headers: headers(), body: sent }).then(
        ({ status }) => status,
      )
    expect(await send('{}')).toBe(400)
    expect(await send('[]')).toBe(400)
    expect(await send(body.padEnd(300 * 1024))).toBe(413)
  })
})
