import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createFlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { attachWebSocket } from '../../src/node/websocket.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, until } from '../fake-clock.ts'
import { listen } from '../node/listening.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'

const MEMORY_LIMIT = 120 * 1024 * 1024

let memory: ReturnType<typeof allInMemory>
let live: SeededEnvironment
let port: number
let healthy: WebSocket
let received: string[]

beforeEach(async () => {
  memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  const flags = createFlagServer({ ...memory, clock: new FakeClock(), maxLiveClients: 1000 })
  const listening = await listen(toNodeHandler(flags))
  attachWebSocket(listening.server, flags)
  port = listening.port
  received = []
  healthy = new WebSocket(`ws://127.0.0.1:${port}/ws/sdk`)
  healthy.on('message', (data) => received.push(String(data)))
  await once(healthy, 'open')
  healthy.send(initOf({ kind: 'user', key: 'healthy' }))
  await until(() => received.length === 1)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  return async () => {
    vi.useRealTimers()
    healthy.terminate()
    await flags.close()
    await listening.close()
  }
})

const initOf = (context: unknown) => JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context })

/** Opens a connection and requests an upgrade, with these additional headers. */
function upgraded(headers = ''): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.resume()
  socket.write(
    'GET /ws/sdk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
      `${headers}\r\n`,
  )
  return socket
}

/** Returns a frame with a mask of zeros. `first` is its first byte. */
function frame(first: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(14)
  head[0] = first
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(payload.length), 2)
  return Buffer.concat([head, payload])
}

const textFrame = (text: string) => frame(0x81, Buffer.from(text))
const isCut = (socket: Socket) => socket.destroyed || socket.readableEnded

/** Waits until sockets are closed. The server waits for their close frames in simulated time. */
function untilCut(...sockets: readonly Socket[]): Promise<void> {
  return until(() => {
    vi.advanceTimersByTime(2000)
    return sockets.every(isCut)
  })
}

async function expectHealthy(): Promise<void> {
  const before = received.length
  healthy.send('{"type":"ping"}')
  await until(() => received.length > before)
  expect(received.at(-1)).toBe('{"type":"pong"}')
}

describe('Invalid socket messages', () => {
  const junk: Readonly<Record<string, Buffer>> = {
    'text that is not JSON': textFrame('junk'),
    'a list': textFrame('[]'),
    'a member with the name __proto__': textFrame('{"__proto__":{"type":"init"}}'),
    'a type with the name of an inherited member': textFrame('{"type":"constructor"}'),
    'deep nesting': textFrame(`{"type":"context","context":${'['.repeat(30_000)}`),
    'text that is not UTF-8': frame(0x81, Buffer.from([0xff, 0xfe])),
    'binary data': frame(0x82, Buffer.from('{}')),
    'a continuation frame without a first frame': frame(0x80, Buffer.from('a')),
    'an opcode that does not exist': frame(0x83, Buffer.from('a')),
    'a frame with the compression bit': frame(0xc1, Buffer.from('a')),
    'a ping that is too long': frame(0x89, Buffer.alloc(200)),
    'a close that is too short': frame(0x88, Buffer.from([3])),
    'no mask': Buffer.from([0x81, 2, 0x7b, 0x7d]),
    'bytes that are not frames': Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(20)),
  }

  it.each(Object.keys(junk))(
    'A socket that sends %s is closed, and other sockets stay open',
    async (name) => {
      const bytes = junk[name] ?? Buffer.alloc(0)
      const [early, late] = [upgraded(), upgraded()]
      late.write(textFrame(initOf({})))
      early.write(bytes)
      late.write(bytes)
      // After init, an unknown message type is valid, because a later release may define it.
      const isUnknownType = name === 'a type with the name of an inherited member'
      await untilCut(early, ...(isUnknownType ? [] : [late]))
      await expectHealthy()
      late.destroy()
    },
  )
})

describe('Oversized socket input', () => {
  async function expectCutWithinMemory(send: (socket: Socket) => void): Promise<void> {
    const before = process.memoryUsage().rss
    const sockets = [upgraded(), upgraded()]
    sockets[1]?.write(textFrame(initOf({})))
    for (const socket of sockets) send(socket)
    await untilCut(...sockets)
    expect(process.memoryUsage().rss - before).toBeLessThan(MEMORY_LIMIT)
    await expectHealthy()
  }

  it('A socket that sends a message of 4 MiB is closed', async () => {
    await expectCutWithinMemory((socket) => socket.write(frame(0x81, Buffer.alloc(2 ** 22, 'x'))))
  })

  it('A socket that sends a message in 200,000 fragments is closed', async () => {
    const begin = Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x20])
    const next = Buffer.from([0x00, 0x81, 0, 0, 0, 0, 0x20])
    const fragments = Buffer.concat([begin, ...Array<Buffer>(200_000).fill(next)])
    await expectCutWithinMemory((socket) => socket.write(fragments))
  })

  it('A socket that sends a compressed message is closed, because compression was not negotiated', async () => {
    const offer = 'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n'
    const socket = upgraded(offer)
    let answer = ''
    socket.on('data', (data) => {
      answer += data.toString('latin1')
    })
    await until(() => answer.includes('\r\n\r\n'))
    expect(answer).toMatch(/^HTTP\/1.1 101/)
    expect(answer.toLowerCase()).not.toContain('sec-websocket-extensions')
    await expectCutWithinMemory((each) => each.write(frame(0xc1, Buffer.alloc(60_000))))
    socket.destroy()
  })

  it('An upgrade with 2,500 headers is refused', async () => {
    const headers = Array.from({ length: 2500 }, (_, number) => `X-${number}: ${number}\r\n`)
    const socket = upgraded(headers.join(''))
    let answer = ''
    socket.on('data', (data) => {
      answer += data.toString('latin1')
    })
    await untilCut(socket)
    expect(answer).toMatch(/^HTTP\/1.1 431/)
    await expectHealthy()
  })
})
