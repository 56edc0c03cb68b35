import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { SocketConnection } from '../../src/live/socket-connection.ts'
import { evaluate } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, until } from '../fake-clock.ts'
import { addSdkKey, type SeededEnvironment, seed } from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

/**
 * The rate. A quarter of it is admitted at the same time, and three quarters of that from one
 * organization.
 */
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
  /** The reply to init. */
  readonly answer: TestSocket['messages'][number] | undefined
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

describe('A valid init', () => {
  it('An init beyond the limit of the throttle is refused with status 429, retryAfter and 1013', async () => {
    const clients = await openMany(live.sdkKey, BURST_OF_ONE + 1)
    expect(typesOf(clients)).toEqual(['flags', 'flags', 'flags', 'error'])
    const refused = clients.at(-1)
    expect(refused?.answer).toMatchObject({ type: 'error', statusCode: 429, retryAfter: 1 })
    expect([refused?.socket.closedWith, refused?.socket.lingers]).toEqual([1013, true])
  })

  it('An init beyond the limit of the throttle is accepted after retryAfter seconds', async () => {
    await openMany(live.sdkKey, BURST_OF_ONE + 1)
    await clock.advance(1000)
    expect(typesOf([await open(live.sdkKey)])).toEqual(['flags'])
  })

  it('An init beyond the limit of the throttle takes no request from its key', async () => {
    const { sdkKey } = await addSdkKey(memory.storage, live, { rateLimit: 5 })
    await openMany(sdkKey, BURST_OF_ONE + 10)
    expect((await evaluate(flags, sdkKey, {})).headers.get('x-ratelimit-remaining')).toBe('1')
  })

  it('An init of one organization is accepted while many clients of another organization are refused', async () => {
    const crowd = await openMany(live.sdkKey, 20)
    expect(typesOf(crowd).filter((type) => type === 'flags')).toHaveLength(BURST_OF_ONE)
    const rest = await openMany(other.sdkKey, BURST - BURST_OF_ONE + 1)
    expect(typesOf(rest)).toEqual(['flags', 'error'])
  })

  it('An init beyond the rate limit of its key is refused with 4429 and the seconds until the next window', async () => {
    const { sdkKey } = await addSdkKey(memory.storage, live, { rateLimit: 1 })
    await clock.advance(45_000)
    const [first, second] = await openMany(sdkKey, 2)
    expect(first?.answer?.type).toBe('flags')
    expect(second?.answer).toMatchObject({ type: 'error', statusCode: 429, retryAfter: 15 })
    expect(second?.socket.closedWith).toBe(4429)
  })

  it('An init beyond the rate limit of its key takes no permit from the throttle', async () => {
    const { sdkKey } = await addSdkKey(memory.storage, live, { rateLimit: 1 })
    await openMany(sdkKey, 20)
    const clients = await openMany(live.sdkKey, BURST_OF_ONE)
    expect(typesOf(clients)).toEqual(['flags', 'flags', 'error'])
  })

  it('An init that is refused counts as a request of the socket family with status 429', async () => {
    await openMany(live.sdkKey, BURST_OF_ONE + 2)
    const text = await (await flags.fetch(new Request('http://flags.test/metrics'))).text()
    expect(text).toContain('ff_requests_total{family="socket",status="429"} 2')
  })
})

describe('An init with an unknown key', () => {
  it('An init with an unknown key takes no permit from the throttle', async () => {
    for (let count = 0; count < 50; count += 1) {
      expect((await open(`ff_${'0'.repeat(64)}`)).socket.closedWith).toBe(4401)
    }
    expect(typesOf(await openMany(live.sdkKey, 1))).toEqual(['flags'])
  })
})

describe('An init with an invalid context', () => {
  it('An init with an invalid context takes a permit from the throttle like a valid one', async () => {
    for (let count = 0; count < BURST_OF_ONE; count += 1) {
      expect((await open(live.sdkKey, { kind: '' })).socket.closedWith).toBe(4400)
    }
    expect((await open(live.sdkKey)).socket.closedWith).toBe(1013)
  })
})

describe('A socket that sends nothing', () => {
  it('A socket that sends nothing takes no permit from the throttle', async () => {
    for (let count = 0; count < 1000; count += 1) {
      expect(flags.admitSocket()).toBe(0)
      flags.acceptSocket(new TestSocket())
    }
    expect(typesOf(await openMany(live.sdkKey, 1))).toEqual(['flags'])
  })
})
