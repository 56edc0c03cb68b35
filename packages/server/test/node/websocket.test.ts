import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { asServerMessage, type ServerMessage } from '@ff/protocol/sdk'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { attachWebSocket } from '../../src/node/websocket.ts'
import type { FlagServerOptions } from '../../src/options.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, settle, until } from '../fake-clock.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { type Listening, listen } from './listening.ts'

let memory: ReturnType<typeof allInMemory>
let live: SeededEnvironment
let staging: SeededEnvironment
const open: { close(): Promise<void> }[] = []

beforeEach(async () => {
  memory = allInMemory()
  ;({ live, staging } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  return async () => {
    for (const one of open.splice(0).reverse()) await one.close()
  }
})

async function serve(
  options: FlagServerOptions = {},
): Promise<Listening & { flags: FlagServer; path: string }> {
  const flags = createFlagServer({ ...memory, ...options })
  const listening = await listen(toNodeHandler(flags))
  attachWebSocket(listening.server, flags)
  open.push(flags, listening)
  return { ...listening, flags, path: `ws://127.0.0.1:${listening.port}${flags.basePath}/ws/sdk` }
}

class Client {
  readonly socket: WebSocket
  readonly messages: ServerMessage[] = []
  closedWith: number | undefined

  constructor(address: string, options = {}) {
    this.socket = new WebSocket(address, options)
    this.socket.on('error', () => undefined)
    this.socket.on('close', (code) => {
      this.closedWith = code
    })
    this.socket.on('message', (data) => {
      const message = asServerMessage(JSON.parse(data.toString()))
      if (message !== undefined) this.messages.push(message)
    })
  }

  async init(sdkKey: string, context: unknown = { kind: 'user', key: 'user-1' }): Promise<this> {
    await once(this.socket, 'open')
    this.socket.send(JSON.stringify({ type: 'init', sdkKey, context }))
    await until(() => this.messages.length > 0)
    return this
  }
}

/** Sends an upgrade request and returns the status of the reply. */
async function upgradeStatus(port: number, path: string): Promise<number | undefined> {
  const request = httpRequest({
    port,
    path,
    headers: {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    },
  }).end()
  return new Promise((resolve, reject) => {
    request.on('response', (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve(response.statusCode)
    })
    request.on('error', reject)
  })
}

describe('attachWebSocket', () => {
  it('A change is sent in under a second, with only the changed flag, and only to its environment [WS-1]', async () => {
    // The clock stands still, so that the delivery cannot depend on a timer.
    const { path } = await serve({ basePath: '/flags', clock: new FakeClock() })
    const client = await new Client(path).init(live.sdkKey)
    const other = await new Client(path).init(staging.sdkKey)
    await publish(memory, live.environmentId, flagChange(textFlag('extra', 'new')))
    await until(() => client.messages.length === 2)
    expect(client.messages).toEqual([
      { type: 'flags', flags: { banner: 'hello' }, version: 1, full: true },
      { type: 'flags', flags: { extra: 'new' }, version: 2, full: false },
    ])
    expect(other.messages).toHaveLength(1)
  })

  it('A client receives a change that another server on the same store has published', async () => {
    const [first, second] = [await serve(), await serve()]
    const clients = [
      await new Client(first.path).init(live.sdkKey),
      await new Client(second.path).init(live.sdkKey),
    ]
    await publish(memory, live.environmentId, flagChange(textFlag('banner', 'changed')))
    await until(() => clients.every(({ messages }) => messages.length === 2))
    for (const { messages } of clients)
      expect(messages[1]).toMatchObject({ flags: { banner: 'changed' } })
  })

  it('A socket is closed with 4401 or 4400 after an error message, and with 1001 when the server closes', async () => {
    const { path, flags } = await serve()
    const refused = await new Client(path).init(`ff_${'0'.repeat(64)}`)
    await until(() => refused.closedWith !== undefined)
    expect([refused.closedWith, refused.messages]).toMatchObject([
      4401,
      [{ type: 'error', statusCode: 401 }],
    ])
    const binary = await new Client(path).init(live.sdkKey)
    binary.socket.send(Buffer.from('{"type":"ping"}'))
    await until(() => binary.closedWith !== undefined)
    expect([binary.closedWith, binary.messages[1]]).toMatchObject([4400, { type: 'error' }])
    const client = await new Client(path).init(live.sdkKey)
    await flags.close()
    await until(() => client.closedWith !== undefined)
    expect(client.closedWith).toBe(1001)
  })

  it('Only the socket that sends an oversized or broken message is closed', async () => {
    const { path } = await serve()
    const healthy = await new Client(path).init(live.sdkKey)
    const large = await new Client(path).init(live.sdkKey)
    large.socket.send(
      JSON.stringify({ type: 'context', context: { kind: 'a', b: 'x'.repeat(90_000) } }),
    )
    const broken = await new Client(path).init(live.sdkKey)
    const raw = broken.socket as unknown as { _socket: { write(bytes: Buffer): void } }
    raw._socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff]))
    await until(() => large.closedWith !== undefined && broken.closedWith !== undefined)
    expect([large.closedWith, broken.closedWith]).toEqual([1009, 1002])
    healthy.socket.send('{"type":"ping"}')
    await until(() => healthy.messages.length === 2)
    expect(healthy.messages[1]).toEqual({ type: 'pong' })
  })

  it('The server does not negotiate compression', async () => {
    const { path } = await serve()
    const client = await new Client(path, { perMessageDeflate: true }).init(live.sdkKey)
    expect(client.socket.extensions).toBe('')
  })

  it('Clients beyond the limit are refused after their init, and a closed socket releases its place', async () => {
    const { path } = await serve({ maxLiveClients: 1 })
    const client = await new Client(path).init(live.sdkKey)
    const second = await new Client(path).init(live.sdkKey)
    await until(() => second.closedWith !== undefined)
    expect(second.messages).toMatchObject([{ type: 'error', statusCode: 429 }])
    expect(second.closedWith).toBe(1013)
    client.socket.terminate()
    for (let type: string | undefined = 'error'; type === 'error'; ) {
      type = (await new Client(path).init(live.sdkKey)).messages[0]?.type
    }
  })

  it('A closed server refuses upgrades with 429', async () => {
    const { port, flags } = await serve()
    await flags.close()
    expect(await upgradeStatus(port, '/ws/sdk')).toBe(429)
  })

  it('The oldest of too many sockets without init is closed with 1013, even if the client does not respond', async () => {
    const { path, port, server } = await serve({ maxPendingSocketsPerAddress: 2 })
    const streams: Socket[] = []
    server.on('connection', (stream) => streams.push(stream))
    const silent = connect(port, '127.0.0.1')
    silent.on('error', () => undefined)
    silent.write(
      'GET /ws/sdk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    )
    await until(() => silent.bytesRead > 0)
    // Without timers, the server cannot wait for the close frame of the client.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const clients: Client[] = []
    for (let count = 0; count < 3; count += 1) {
      const client = new Client(path)
      await once(client.socket, 'open')
      clients.push(client)
    }
    const [first] = clients
    await until(() => first?.closedWith !== undefined)
    expect(clients.map(({ closedWith }) => closedWith)).toEqual([1013, undefined, undefined])
    expect(first?.messages).toMatchObject([{ type: 'error', statusCode: 429 }])
    await until(() => streams[0]?.destroyed === true)
    silent.destroy()
  })

  it('Upgrades of other paths are refused with 404 if the host has no other listener', async () => {
    const { port } = await serve({ basePath: '/flags' })
    for (const path of ['/ws/sdk', '/flags/ws/sdk/x', '/flags/ws', '/flags/ws/sdk%2f']) {
      expect(await upgradeStatus(port, path)).toBe(404)
    }
    expect(await upgradeStatus(port, '/flags/ws/sdk?x=1')).toBe(101)
  })

  it('Upgrades of other paths are left to the host', async () => {
    const { server, port } = await serve()
    const others = new WebSocketServer({ noServer: true })
    server.on('upgrade', (request, socket, head) => {
      if (request.url === '/chat')
        others.handleUpgrade(request, socket, head, (one) => one.send('hi'))
    })
    expect(await upgradeStatus(port, '/ws/sdk')).toBe(101)
    const chat = new WebSocket(`ws://127.0.0.1:${port}/chat`)
    const [data] = await once(chat, 'message')
    expect(String(data)).toBe('hi')
    chat.terminate()
  })

  it('One host can mount two servers under two base paths', async () => {
    const { server, port } = await serve({ basePath: '/a' })
    const second = createFlagServer({ ...memory, basePath: '/b' })
    const detach = attachWebSocket(server, second)
    const statuses = async () => [
      await upgradeStatus(port, '/a/ws/sdk'),
      await upgradeStatus(port, '/b/ws/sdk'),
      await upgradeStatus(port, '/c/ws/sdk'),
    ]
    expect((await statuses()).slice(0, 2)).toEqual([101, 101])
    detach()
    expect(await upgradeStatus(port, '/a/ws/sdk')).toBe(101)
    expect(await upgradeStatus(port, '/b/ws/sdk')).toBe(404)
  })

  it('A client that does not respond to a ping is disconnected, and other clients stay connected', async () => {
    const clock = new FakeClock()
    const { path } = await serve({ clock })
    const healthy = await new Client(path).init(live.sdkKey)
    const silent = await new Client(path, { autoPong: false }).init(live.sdkKey)
    const pinged = Promise.all([once(healthy.socket, 'ping'), once(silent.socket, 'ping')])
    await clock.advance(30_000)
    await pinged
    healthy.socket.send('{"type":"ping"}')
    await until(() => healthy.messages.length === 2)
    await clock.advance(30_000)
    await until(() => silent.closedWith !== undefined)
    expect([silent.closedWith, healthy.closedWith]).toEqual([1006, undefined])
  })

  it('Pings to many clients are sent in time slices', async () => {
    const clock = new FakeClock()
    const { path, server } = await serve({ clock, maxPendingSocketsPerAddress: 1000 })
    const streams: Socket[] = []
    server.on('connection', (stream) => streams.push(stream))
    const sockets = Array.from({ length: 200 }, () => new Client(path).socket)
    await Promise.all(sockets.map((socket) => once(socket, 'open')))
    const before = streams.map(({ bytesWritten }) => bytesWritten)
    const pinged = () =>
      streams.filter(({ bytesWritten }, at) => bytesWritten > (before[at] ?? 0)).length
    const advanced = clock.advance(30_000)
    // No other task of the event loop has run yet.
    expect(pinged()).toBeGreaterThan(0)
    expect(pinged()).toBeLessThan(sockets.length)
    await advanced
    await until(() => pinged() === sockets.length)
    for (const socket of sockets) socket.terminate()
  })

  it('Clients that stop reading are disconnected without affecting other clients', async () => {
    const clock = new FakeClock()
    const { path, port, flags, server } = await serve({ clock })
    const streams: Socket[] = []
    server.on('connection', (stream) => streams.push(stream))
    const stuck = Array.from({ length: 5 }, () => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write(
        'GET /ws/sdk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
      )
      socket.write(frameOf(JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context: {} })))
      socket.pause()
      return socket
    })
    const healthy = await new Client(path).init(live.sdkKey)
    const filler = 'x'.repeat(48 * 1024)
    for (let round = 1; round <= 400; round += 1) {
      await publish(
        memory,
        live.environmentId,
        flagChange(textFlag('banner', `${round} ${filler}`)),
      )
      await settle()
    }
    await until(() => JSON.stringify(healthy.messages.at(-1)).includes('"400 '))
    const before = flags.admitSocket()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await clock.advance(10_000)
    // The server waits for the close frames of the clients.
    await until(() => vi.getTimerCount() === stuck.length)
    vi.advanceTimersByTime(2000)
    await until(() => streams.filter(({ destroyed }) => destroyed).length === stuck.length)
    for (const socket of stuck) socket.resume()
    await until(() => stuck.every((socket) => socket.destroyed || socket.readableEnded))
    expect([before, healthy.closedWith]).toEqual([0, undefined])
    for (const socket of stuck) socket.destroy()
  })
})

/** Returns a masked text frame, as a client sends it. */
function frameOf(message: string): Buffer {
  const payload = Buffer.from(message)
  const header = Buffer.from([
    0x81,
    0x80 | 126,
    payload.length >> 8,
    payload.length & 255,
    0,
    0,
    0,
    0,
  ])
  return Buffer.concat([header, payload])
}
