import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { attachWebSocket } from '../../src/node/websocket.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, settle, until } from '../fake-clock.ts'
import { liveClients, untilPending } from '../live-clients.ts'
import { type Listening, listen } from '../node/listening.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { report, sized } from './scale.ts'

const STUCK = 20
const HEALTHY = 10
const UPDATES = sized({ full: 400, small: 200 })
const MEMORY_LIMIT = 150 * 1024 * 1024
const ROUNDS = sized({ full: 10, small: 3 })
const POLLS = sized({ full: 300, small: 100 })
const LEAK_LIMIT = 20 * 1024 * 1024

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/**
 * Returns the memory in use after garbage collection. The memory of the whole process would include
 * garbage.
 */
function memoryHeld(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let live: SeededEnvironment
let flags: FlagServer
let listening: Listening

beforeEach(async () => {
  clock = new FakeClock()
  memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  await set('hello')
  flags = createFlagServer({
    ...memory,
    clock,
    metricsArePublic: true,
    maxPendingSocketsPerAddress: POLLS,
  })
  listening = await listen(toNodeHandler(flags))
  attachWebSocket(listening.server, flags)
  return async () => {
    await flags.close()
    await listening.close()
  }
})

/**
 * Publishes a text for all contexts. The flag has only one variation, so that the store, which
 * keeps every version, contains the text only once per version.
 */
function set(value: string): Promise<number> {
  const flag = textFlag('banner', 'banner')
  const variations = flag.variations.map((variation) => ({ ...variation, value }))
  return publish(
    memory,
    live.environmentId,
    flagChange({ ...flag, variations: variations.slice(0, 1) }),
  )
}

const initOf = (key: string) =>
  JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context: { kind: 'user', key } })

/** Opens a socket that never reads. */
function openStuck(number: number): Socket {
  const socket = connect(listening.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    'GET /ws/sdk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  )
  const payload = Buffer.from(initOf(`stuck-${number}`))
  const head = [0x81, 0x80 | 126, payload.length >> 8, payload.length & 255, 0, 0, 0, 0]
  socket.write(Buffer.concat([Buffer.from(head), payload]))
  socket.pause()
  return socket
}

async function openHealthy(number: number): Promise<{ last: string; socket: WebSocket }> {
  const socket = new WebSocket(`ws://127.0.0.1:${listening.port}/ws/sdk`)
  const client = { last: '', socket }
  socket.on('message', (data) => {
    client.last = String(data)
  })
  await once(socket, 'open')
  socket.send(initOf(`healthy-${number}`))
  return client
}

describe('Clients that stop reading', () => {
  it('Clients that stop reading use little memory, are disconnected, and do not affect other clients', async () => {
    const stuck = Array.from({ length: STUCK }, (_, number) => openStuck(number))
    const healthy = await Promise.all(Array.from({ length: HEALTHY }, (_, n) => openHealthy(n)))
    const clients = () => liveClients(flags, 'ws')
    await expect.poll(clients).toBe(STUCK + HEALTHY)
    const before = memoryHeld()
    let most = before
    const filler = 'x'.repeat(48 * 1024)
    for (let round = 1; round <= UPDATES; round += 1) {
      await set(`${round} ${filler}`)
      await settle()
      if (round % 20 === 0) most = Math.max(most, memoryHeld())
    }
    await until(() => healthy.every(({ last }) => last.includes(`:"${UPDATES} x`)))
    await clock.advance(10_000)
    await expect.poll(clients).toBe(HEALTHY)
    for (const { socket } of healthy) expect(socket.readyState).toBe(WebSocket.OPEN)
    expect(most - before).toBeLessThan(MEMORY_LIMIT)
    report(
      `${STUCK} clients that stop reading, ${UPDATES} updates of 48 KiB: all disconnected, ` +
        `${Math.round((most - before) / 1024 / 1024)} MiB more at most`,
    )
    for (const socket of stuck) socket.destroy()
    for (const { socket } of healthy) socket.terminate()
  })
})

describe('Clients that connect and disconnect', () => {
  it('Aborted polls and closed idle sockets use no memory afterwards', async () => {
    let base = 0
    const connections = new Set<Socket>()
    listening.server.on('connection', (connection) => {
      connections.add(connection)
      connection.on('close', () => connections.delete(connection))
    })
    for (let round = 0; round <= ROUNDS; round += 1) {
      const sockets = [
        ...Array.from({ length: POLLS }, (_, number) => openPoll(number)),
        ...Array.from({ length: POLLS }, () => connect(listening.port, '127.0.0.1')),
      ]
      await untilPending(flags, POLLS)
      for (const socket of sockets) socket.destroy()
      await untilPending(flags, 0)
      await until(() => connections.size === 0)
      // The first round is a warm-up.
      if (round === 0) base = memoryHeld()
    }
    const grown = memoryHeld() - base
    report(`${ROUNDS} rounds of ${POLLS} polls and ${POLLS} idle sockets: ${grown >> 20} MiB more`)
    expect((await evaluateOnce()).status).toBe(200)
    expect(grown).toBeLessThan(LEAK_LIMIT)
  })
})

function openPoll(number: number): Socket {
  const socket = connect(listening.port, '127.0.0.1')
  socket.on('error', () => undefined)
  const body = JSON.stringify({ context: { kind: 'user', key: `user-${number}` } })
  socket.write(
    `POST /evaluator/poll HTTP/1.1\r\nHost: a\r\nx-api-key: ${live.sdkKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  return socket
}

const evaluateOnce = () =>
  fetch(`${listening.url}/evaluator/evaluate`, {
    method: 'POST',
    headers: { 'x-api-key': live.sdkKey, 'content-type': 'application/json' },
    body: '{"context":{}}',
  })
