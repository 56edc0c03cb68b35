import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createFlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { attachWebSocket } from '../../src/node/websocket.ts'
import { allInMemory } from '../capabilities.ts'
import { until } from '../fake-clock.ts'
import { listen } from '../node/listening.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'

const MEMORY_LIMIT = 120 * 1024 * 1024

let memory: ReturnType<typeof allInMemory>
let live: SeededEnvironment
let port: number
let healthy: WebSocket
let heard: string[]

beforeEach(async () => {
  memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  const flags = createFlagServer({ ...memory, maxLiveClients: 1000 })
  const listening = await listen(toNodeHandler(flags))
  attachWebSocket(listening.server, flags)
  port = listening.port
  heard = []
  healthy = new WebSocket(`ws://127.0.0.1:${port}/ws/sdk`)
  healthy.on('message', (data) => heard.push(String(data)))
  await once(healthy, 'open')
  healthy.send(initOf({ kind: 'user', key: 'healthy' }))
  await until(() => heard.length === 1)
  return async () => {
    healthy.terminate()
    await flags.close()
    await listening.close()
  }
})

const initOf = (context: unknown) => JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context })

/** Opens a connection and asks for an upgrade, with these further headers. */
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

/** A frame with a mask of zeros; `first` is its first byte. */
function frame(first: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(14)
  head[0] = first
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(payload.length), 2)
  return Buffer.concat([head, payload])
}

const textFrame = (text: string) => frame(0x81, Buffer.from(text))
const isCut = (socket: Socket) => socket.destroyed || socket.readableEnded

async function expectHealthy(): Promise<void> {
  const before = heard.length
  healthy.send('{"type":"ping"}')
  await until(() => heard.length > before)
  expect(heard.at(-1)).toBe('{"type":"pong"}')
}

describe('junk', () => {
  const junk: Readonly<Record<string, Buffer>> = {
    'text that is no JSON': textFrame('junk'),
    'a list': textFrame('[]'),
    'a name of the prototype': textFrame('{"__proto__":{"type":"init"}}'),
    'a type of the prototype': textFrame('{"type":"constructor"}'),
    'deep nesting': textFrame(`{"type":"context","context":${'['.repeat(30_000)}`),
    'text that is not UTF-8': frame(0x81, Buffer.from([0xff, 0xfe])),
    'binary data': frame(0x82, Buffer.from('{}')),
    'a frame that goes on with nothing': frame(0x80, Buffer.from('a')),
    'an opcode that does not exist': frame(0x83, Buffer.from('a')),
    'bits that mean compression': frame(0xc1, Buffer.from('a')),
    'a ping that is too long': frame(0x89, Buffer.alloc(200)),
    'a close that is too short': frame(0x88, Buffer.from([3])),
    'no mask': Buffer.from([0x81, 2, 0x7b, 0x7d]),
    'bytes without meaning': Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(20)),
  }

  it.each(Object.keys(junk))('before and after init closes only that socket: %s', async (name) => {
    const bytes = junk[name] ?? Buffer.alloc(0)
    const [early, late] = [upgraded(), upgraded()]
    late.write(textFrame(initOf({})))
    early.write(bytes)
    late.write(bytes)
    // A message of a later release is not junk, once the conversation has begun.
    const isUnknownType = name === 'a type of the prototype'
    await until(() => isCut(early) && (isUnknownType || isCut(late)))
    await expectHealthy()
    late.destroy()
  })
})

describe('too much', () => {
  async function expectCutWithinMemory(send: (socket: Socket) => void): Promise<void> {
    const before = process.memoryUsage().rss
    const sockets = [upgraded(), upgraded()]
    sockets[1]?.write(textFrame(initOf({})))
    for (const socket of sockets) send(socket)
    await until(() => sockets.every(isCut))
    expect(process.memoryUsage().rss - before).toBeLessThan(MEMORY_LIMIT)
    await expectHealthy()
  }

  it('in one message of 4 MiB is cut', async () => {
    await expectCutWithinMemory((socket) => socket.write(frame(0x81, Buffer.alloc(2 ** 22, 'x'))))
  })

  it('in 200,000 fragments is cut', async () => {
    const begin = Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x20])
    const next = Buffer.from([0x00, 0x81, 0, 0, 0, 0, 0x20])
    const fragments = Buffer.concat([begin, ...Array<Buffer>(200_000).fill(next)])
    await expectCutWithinMemory((socket) => socket.write(fragments))
  })

  it('that was compressed is cut, for nobody has agreed to that', async () => {
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

  it('in 2,500 headers never becomes a socket', async () => {
    const headers = Array.from({ length: 2500 }, (_, number) => `X-${number}: ${number}\r\n`)
    const socket = upgraded(headers.join(''))
    let answer = ''
    socket.on('data', (data) => {
      answer += data.toString('latin1')
    })
    await until(() => isCut(socket))
    expect(answer).toMatch(/^HTTP\/1.1 431/)
    await expectHealthy()
  })
})
