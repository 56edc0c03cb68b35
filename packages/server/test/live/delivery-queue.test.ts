import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { evaluate, poll } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, until } from '../fake-clock.ts'
import { untilPending } from '../live-clients.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

const CLIENTS = 600
const CONTEXTS = 50

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let flags: FlagServer
let live: SeededEnvironment

beforeEach(async () => {
  clock = new FakeClock()
  memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  await set('banner', 'hello')
  flags = createFlagServer({
    ...memory,
    clock,
    metricsArePublic: true,
    maxNewSocketsPerSecond: 1_000_000,
    maxPendingSocketsPerAddress: CLIENTS,
  })
  await flags.start()
  await evaluate(flags, live.sdkKey, {})
  return () => flags.close()
})

const set = (key: string, value: string, rules: Parameters<typeof textFlag>[2] = []) =>
  publish(memory, live.environmentId, flagChange(textFlag(key, value, rules)))

const contextOf = (client: number) => {
  const plan = client % 2 === 0 ? 'pro' : 'free'
  return { kind: 'user', key: `user-${client % CONTEXTS}`, plan }
}
const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }

async function openSockets(): Promise<TestSocket[]> {
  const sockets = Array.from({ length: CLIENTS }, (_, client) => {
    const socket = new TestSocket()
    const context = contextOf(client)
    flags
      .acceptSocket(socket)
      .receive(JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context }))
    return socket
  })
  await until(() => sockets.every(({ messages }) => messages.length === 1))
  for (const socket of sockets) socket.take()
  return sockets
}

/**
 * Waits until a condition is true for all sockets. Returns the largest number of sockets for which
 * it became true in one turn of the event loop.
 */
async function mostInATurn(
  sockets: readonly TestSocket[],
  hasHappened: (socket: TestSocket) => boolean,
): Promise<number> {
  let [before, most] = [0, 0]
  for (let turn = 0; turn < 10_000 && before < sockets.length; turn += 1) {
    const count = sockets.filter(hasHappened).length
    most = Math.max(most, count - before)
    before = count
    await new Promise((resolve) => setImmediate(resolve))
  }
  return most
}

describe('DeliveryQueue', () => {
  it('Updates of many clients are sent in time slices', async () => {
    const sockets = await openSockets()
    await set('banner', 'bye')
    const most = await mostInATurn(sockets, ({ messages }) => messages.length === 1)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(64)
  })

  it('All clients receive a change, and clients with equal values receive the same message', async () => {
    const sockets = await openSockets()
    await set('banner', 'hello', [proRule])
    await until(() => sockets.every(({ messages }, client) => messages.length === 1 - (client % 2)))
    await set('banner', 'bye', [proRule])
    await until(() => sockets.every(({ messages }, client) => messages.length >= client % 2))
    const sent = new Set(sockets.flatMap(({ sent }) => sent.slice(1)))
    expect(sent.size).toBe(2)
  })

  it('Requests are served between the time slices of a delivery', async () => {
    const sockets = await openSockets()
    await set('banner', 'bye')
    const updated = () => sockets.filter(({ messages }) => messages.length > 0).length
    while (updated() === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(updated()).toBeLessThan(CLIENTS)
    expect((await evaluate(flags, live.sdkKey, contextOf(0))).body).toEqual({ banner: 'bye' })
    await until(() => sockets.every(({ messages }) => messages.length === 1))
  })

  it('Clients receive versions in ascending order and end with the newest, even if flags change during a delivery', async () => {
    const sockets = await openSockets()
    for (let round = 1; round <= 41; round += 1) await set('banner', `round ${round}`)
    await set('extra', 'new')
    await until(() => sockets.every(({ messages }) => JSON.stringify(messages).includes('new')))
    for (const socket of sockets) {
      const updates = socket.take().flatMap((one) => (one.type === 'flags' ? one : []))
      const versions = updates.map(({ version }) => version)
      expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
      const values = Object.assign({}, ...updates.map((update) => update.flags))
      expect(values).toEqual({ banner: 'round 41', extra: 'new' })
    }
    expect(sockets.reduce((sum, { sent }) => sum + sent.length, 0)).toBeLessThan(CLIENTS * 42)
  })

  it('Many clients are ended in time slices when their key is revoked', async () => {
    const { data } = await memory.storage.list('sdkKey', {
      where: { environmentId: live.environmentId },
    })
    const sockets = await openSockets()
    const revokedAt = '2030-01-01T00:00:00.000Z'
    for (const { id } of data) await memory.storage.update('sdkKey', id, { revokedAt })
    await memory.changeFeed.publish({ type: 'sdkKeys' })
    expect(await mostInATurn(sockets, ({ closedWith }) => closedWith !== undefined)).toBeLessThan(
      CLIENTS / 2,
    )
    expect(new Set(sockets.map(({ closedWith }) => closedWith))).toEqual(new Set([4401]))
  })

  it('Many clients are ended in time slices when the server closes', async () => {
    const sockets = await openSockets()
    const closing = flags.close()
    expect(await mostInATurn(sockets, ({ closedWith }) => closedWith !== undefined)).toBeLessThan(
      CLIENTS / 2,
    )
    expect(new Set(sockets.map(({ closedWith }) => closedWith))).toEqual(new Set([1001]))
    await closing
  })

  it('Each of many pending polls receives its own values, even if other clients disconnect', async () => {
    const leaver = new AbortController()
    const polls = Array.from({ length: CLIENTS }, (_, client) => {
      const signal = client % 3 === 0 ? leaver.signal : undefined
      return poll(flags, live.sdkKey, { context: contextOf(client) }, signal).catch(() => undefined)
    })
    await untilPending(flags, CLIENTS)
    await set('banner', 'bye', [proRule])
    leaver.abort()
    for (const [client, answer] of (await Promise.all(polls)).entries()) {
      if (client % 3 === 0) continue
      expect(answer?.body).toEqual({ banner: client % 2 === 0 ? 'other' : 'bye' })
    }
    await untilPending(flags, 0)
    expect(clock.timers).toBeLessThan(20)
  })
})
