import type { ServerMessage } from '@ff/protocol/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { SocketConnection } from '../../src/live/socket-connection.ts'
import { evaluate } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, until } from '../fake-clock.ts'
import { addSdkKey, type SeededEnvironment, seed } from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

/** A quarter of it is admitted at one moment, of one organization three quarters of that. */
const PER_SECOND = 16
const BURST = 4
const BURST_OF_ONE = 3

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let flags: FlagServer
let live: SeededEnvironment
let other: SeededEnvironment

beforeEach(async () => {
  clock = new FakeClock()
  memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  other = (await seed(memory.storage)).live
  flags = createFlagServer({
    ...memory,
    clock,
    metricsArePublic: true,
    maxNewSocketsPerSecond: PER_SECOND,
  })
  await flags.start()
  return () => flags.close()
})

interface Client {
  readonly socket: TestSocket
  readonly connection: SocketConnection
  /** What the init was answered. */
  readonly answer: ServerMessage | undefined
}

async function open(sdkKey: string, context: unknown = {}): Promise<Client> {
  const socket = new TestSocket()
  const connection = flags.acceptSocket(socket)
  connection.receive(JSON.stringify({ type: 'init', sdkKey, context }))
  await until(() => socket.messages.length > 0)
  return { socket, connection, answer: socket.messages[0] }
}

async function openMany(sdkKey: string, count: number): Promise<Client[]> {
  const clients: Client[] = []
  while (clients.length < count) clients.push(await open(sdkKey))
  return clients
}

const typesOf = (clients: readonly Client[]) => clients.map(({ answer }) => answer?.type)

describe('a valid init', () => {
  it('beyond the throttle is refused with status 429, retryAfter and 1013', async () => {
    const clients = await openMany(live.sdkKey, BURST_OF_ONE + 1)
    expect(typesOf(clients)).toEqual(['flags', 'flags', 'flags', 'error'])
    const refused = clients.at(-1)
    expect(refused?.answer).toMatchObject({ type: 'error', statusCode: 429, retryAfter: 1 })
    expect([refused?.socket.closedWith, refused?.socket.lingers]).toEqual([1013, true])
  })

  it('beyond the throttle is accepted after retryAfter seconds', async () => {
    await openMany(live.sdkKey, BURST_OF_ONE + 1)
    await clock.advance(1000)
    expect(typesOf([await open(live.sdkKey)])).toEqual(['flags'])
  })

  it('beyond the throttle takes no request from its key', async () => {
    const { sdkKey } = await addSdkKey(memory.storage, live, { rateLimit: 5 })
    await openMany(sdkKey, BURST_OF_ONE + 10)
    expect((await evaluate(flags, sdkKey, {})).headers.get('x-ratelimit-remaining')).toBe('1')
  })

  it('is accepted from another organization while one organization’s crowd is refused', async () => {
    const crowd = await openMany(live.sdkKey, 20)
    expect(typesOf(crowd).filter((type) => type === 'flags')).toHaveLength(BURST_OF_ONE)
    const rest = await openMany(other.sdkKey, BURST - BURST_OF_ONE + 1)
    expect(typesOf(rest)).toEqual(['flags', 'error'])
  })

  it('beyond the rate limit of its key is refused with 4429 and the seconds to the next window', async () => {
    const { sdkKey } = await addSdkKey(memory.storage, live, { rateLimit: 1 })
    await clock.advance(45_000)
    const [first, second] = await openMany(sdkKey, 2)
    expect(first?.answer?.type).toBe('flags')
    expect(second?.answer).toMatchObject({ type: 'error', statusCode: 429, retryAfter: 15 })
    expect(second?.socket.closedWith).toBe(4429)
  })

  it('beyond the rate limit of its key takes nothing from the throttle', async () => {
    const { sdkKey } = await addSdkKey(memory.storage, live, { rateLimit: 1 })
    await openMany(sdkKey, 20)
    const clients = await openMany(live.sdkKey, BURST_OF_ONE)
    expect(typesOf(clients)).toEqual(['flags', 'flags', 'error'])
  })

  it('that is refused counts as a request of the socket family with status 429', async () => {
    await openMany(live.sdkKey, BURST_OF_ONE + 2)
    const text = await (await flags.fetch(new Request('http://flags.test/metrics'))).text()
    expect(text).toContain('ff_requests_total{family="socket",status="429"} 2')
  })
})

describe('an init with an unknown key', () => {
  it('takes nothing from the throttle, however many there are', async () => {
    for (let count = 0; count < 50; count += 1) {
      expect((await open(`ff_${'0'.repeat(64)}`)).socket.closedWith).toBe(4401)
    }
    expect(typesOf(await openMany(live.sdkKey, 1))).toEqual(['flags'])
  })
})

describe('an init with a context that is refused', () => {
  it('takes from the throttle what another init takes, because reading it costs as much', async () => {
    for (let count = 0; count < BURST_OF_ONE; count += 1) {
      expect((await open(live.sdkKey, { kind: '' })).socket.closedWith).toBe(4400)
    }
    expect((await open(live.sdkKey)).socket.closedWith).toBe(1013)
  })
})

describe('a socket that was opened and says nothing', () => {
  it('takes nothing from the throttle, however many there are', async () => {
    for (let count = 0; count < 1000; count += 1) {
      expect(flags.admitSocket()).toBe(0)
      flags.acceptSocket(new TestSocket())
    }
    expect(typesOf(await openMany(live.sdkKey, 1))).toEqual(['flags'])
  })
})
