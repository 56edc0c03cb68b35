import { FlagError } from '@ff/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { SocketConnection } from '../../src/live/socket-connection.ts'
import type { FlagServerOptions } from '../../src/options.ts'
import { allInMemory, breakable } from '../capabilities.ts'
import { FakeClock, settle, until } from '../fake-clock.ts'
import { addSdkKey, flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

const LIMIT = 4
const user = { kind: 'user', key: 'user-1' }

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let store: ReturnType<typeof breakable>
let live: SeededEnvironment
const servers: FlagServer[] = []

beforeEach(async () => {
  clock = new FakeClock()
  memory = allInMemory()
  store = breakable(memory.storage)
  ;({ live } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  return async () => {
    for (const server of servers.splice(0)) await server.close()
    expect(clock.timers).toBe(0)
  }
})

async function serve(options: FlagServerOptions = {}): Promise<FlagServer> {
  const { storage } = store
  const limits = { maxPendingSocketsPerAddress: LIMIT }
  const flags = createFlagServer({ ...memory, storage, clock, ...limits, ...options })
  servers.push(flags)
  await flags.start()
  return flags
}

interface Client {
  readonly socket: TestSocket
  readonly connection: SocketConnection
  init(sdkKey?: string, context?: unknown): Promise<void>
}

/** Opens a socket from an address. It sends nothing. */
function connect(flags: FlagServer, address?: string, forwardedFor?: string): Client {
  const socket = new TestSocket()
  const connection = flags.acceptSocket(socket, {
    address,
    isEncrypted: false,
    header: (name) => (name === 'x-forwarded-for' ? forwardedFor : undefined),
  })
  const init = async (sdkKey = live.sdkKey, context: unknown = user) => {
    connection.receive(JSON.stringify({ type: 'init', sdkKey, context }))
    await settle()
  }
  return { socket, connection, init }
}

const crowd = (flags: FlagServer, size: number, address?: string) =>
  Array.from({ length: size }, () => connect(flags, address))

const closedOf = (clients: readonly Client[]) => clients.map(({ socket }) => socket.closedWith)

/** Returns the result of `closedOf` if the first `count` of `all` sockets are displaced. */
const firstDisplaced = (count: number, all: number) =>
  Array.from({ length: all }, (_, index) => (index < count ? 1013 : undefined))

describe('A socket without a valid init', () => {
  it('The oldest sockets without init of an address are displaced if the address has too many', async () => {
    const flags = await serve()
    const clients = crowd(flags, LIMIT + 2, '203.0.113.1')
    await settle()
    expect(closedOf(clients)).toEqual(firstDisplaced(2, LIMIT + 2))
    const [{ socket } = clients[0] as Client] = clients
    const [message] = socket.take()
    expect(message).toMatchObject({ type: 'error', statusCode: 429 })
    if (message?.type !== 'error') throw new FlagError('INTERNAL', 'no error message')
    expect(message.retryAfter).toBeGreaterThanOrEqual(1)
    expect(message.retryAfter).toBeLessThanOrEqual(10)
    expect(socket.lingers).toBe(false)
  })

  it('A socket without init is not displaced by sockets of another address', async () => {
    const flags = await serve()
    const neighbour = connect(flags, '203.0.113.2')
    const clients = crowd(flags, LIMIT * 5, '203.0.113.1')
    await settle()
    expect(neighbour.socket.closedWith).toBeUndefined()
    expect(closedOf(clients)).toEqual(firstDisplaced(LIMIT * 4, LIMIT * 5))
  })

  it('Sockets without init of one IPv6 network of 64 bits share one limit', async () => {
    const flags = await serve()
    const neighbour = connect(flags, '2001:db8:0:2::1')
    const clients = Array.from({ length: LIMIT + 1 }, (_, host) =>
      connect(flags, `2001:db8:0:1:${host}::1`),
    )
    await settle()
    expect(closedOf(clients)).toEqual(firstDisplaced(1, LIMIT + 1))
    expect(neighbour.socket.closedWith).toBeUndefined()
  })

  it('A socket without init is counted by its forwarded address only if trustProxy is set', async () => {
    for (const trustProxy of [false, true]) {
      const flags = await serve({ trustProxy })
      const clients = Array.from({ length: LIMIT + 1 }, (_, host) =>
        connect(flags, '203.0.113.1', `198.51.100.${host}`),
      )
      await settle()
      expect(closedOf(clients)).toEqual(firstDisplaced(trustProxy ? 0 : 1, LIMIT + 1))
    }
  })

  it('Sockets without init of unknown addresses share one limit', async () => {
    const flags = await serve()
    const sockets = Array.from({ length: LIMIT + 1 }, () => new TestSocket())
    for (const socket of sockets) flags.acceptSocket(socket)
    await settle()
    expect(sockets.filter(({ closedWith }) => closedWith === 1013)).toEqual([sockets[0]])
  })

  it('A socket is not displaced if its init is read in the same turn of the event loop', async () => {
    const flags = await serve()
    await connect(flags, '203.0.113.9').init()
    const honest = connect(flags, '203.0.113.1')
    const strangers = crowd(flags, LIMIT, '203.0.113.1')
    await honest.init()
    expect(honest.socket.take()).toMatchObject([{ type: 'flags', full: true }])
    expect(closedOf(strangers)).toEqual(firstDisplaced(0, LIMIT))
  })

  it('A socket releases its place if the key or the context of its init is refused', async () => {
    const flags = await serve()
    const [first, second, ...others] = crowd(flags, LIMIT, '203.0.113.1')
    await first?.init(`ff_${'0'.repeat(64)}`)
    await second?.init(live.sdkKey, { kind: '' })
    expect([first?.socket.closedWith, second?.socket.closedWith]).toEqual([4401, 4400])
    expect(first?.socket.lingers).toBe(false)
    others.push(...crowd(flags, 2, '203.0.113.1'))
    await settle()
    expect(closedOf(others)).toEqual(firstDisplaced(0, LIMIT))
  })

  it('A socket that is displaced while its key is verified receives no flags and takes no request from its key', async () => {
    const flags = await serve()
    const { sdkKey } = await addSdkKey(memory.storage, live, { rateLimit: 1 })
    store.hold()
    const client = connect(flags, '203.0.113.1')
    const answered = client.init(sdkKey)
    crowd(flags, LIMIT, '203.0.113.1')
    await answered
    expect(client.socket.closedWith).toBe(1013)
    store.release()
    const second = connect(flags, '203.0.113.2')
    await second.init(sdkKey)
    await until(() => second.socket.messages.length > 0)
    expect(second.socket.take()).toMatchObject([{ type: 'flags' }])
    expect(client.socket.take()).toMatchObject([{ type: 'error', statusCode: 429 }])
  })

  it('A socket without init releases its place when it is closed', async () => {
    const flags = await serve()
    const clients = crowd(flags, LIMIT + 2, '203.0.113.1')
    for (const { connection } of clients.slice(0, 2)) flags.releaseSocket(connection)
    await settle()
    expect(closedOf(clients)).toEqual(firstDisplaced(0, LIMIT + 2))
  })

  it('A socket that sends nothing is closed with 4408 and releases its place', async () => {
    const flags = await serve()
    const clients = crowd(flags, LIMIT, '203.0.113.1')
    await clock.advance(10_000)
    expect(closedOf(clients)).toEqual(Array(LIMIT).fill(4408))
    const later = crowd(flags, LIMIT, '203.0.113.1')
    await settle()
    expect(closedOf(later)).toEqual(firstDisplaced(0, LIMIT))
  })
})

describe('A socket with a valid init', () => {
  it('A socket with a valid init is not displaced by later sockets of its address', async () => {
    const flags = await serve()
    const clients = crowd(flags, LIMIT, '203.0.113.1')
    for (const { init } of clients) await init()
    crowd(flags, LIMIT * 3, '203.0.113.1')
    await settle()
    expect(closedOf(clients)).toEqual(firstDisplaced(0, LIMIT))
    await publish(memory, live.environmentId, flagChange(textFlag('banner', 'changed')))
    await settle()
    for (const { socket } of clients) {
      expect(socket.take().at(-1)).toMatchObject({ flags: { banner: 'changed' } })
    }
  })
})
