import type { FlagSetDefinition } from '@ff/core'
import { mergeChanges } from '@ff/core/changes'
import { flagSetRoot } from '@ff/core/flag-set-root'
import type { FlagSetMessage } from '@ff/protocol/sdk'
import type { DefinitionChange } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { call } from '../call.ts'
import { allInMemory, breakable } from '../capabilities.ts'
import { FakeClock, settle, until } from '../fake-clock.ts'
import {
  addSdkKey,
  flagChange,
  publish,
  rampFlag,
  type SeededEnvironment,
  seed,
  textFlag,
} from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let store: ReturnType<typeof breakable>
let flags: FlagServer
let live: SeededEnvironment
let key: string

beforeEach(async () => {
  clock = new FakeClock()
  memory = allInMemory()
  store = breakable(memory.storage)
  ;({ live } = await seed(memory.storage))
  ;({ sdkKey: key } = await addSdkKey(memory.storage, live, { kind: 'server' }))
  await change(...'abcdef'.split('').map((name) => flagChange(textFlag(name, name))))
  flags = createFlagServer({ ...memory, storage: store.storage, clock })
  await flags.start()
  await call(flags, '/evaluator/flag-set', { method: 'GET', key })
  return () => flags.close()
})

const change = (...changes: DefinitionChange[]) => publish(memory, live.environmentId, ...changes)
const set = (name: string, value: string) => change(flagChange(textFlag(name, value)))

const stored = async () =>
  (await memory.storage.loadFlagSet(live.environmentId)) as FlagSetDefinition

/** Opens a client and sends init. */
async function open(since: number | undefined, sdkKey = key) {
  const socket = new TestSocket()
  const connection = flags.acceptSocket(socket)
  const say = async (message: unknown) => {
    connection.receive(JSON.stringify(message))
    await settle()
  }
  await say({ type: 'init', sdkKey, flagSet: { since } })
  await until(() => socket.messages.length > 0)
  return { socket, connection, say }
}

/** Opens a client that stops reading, and publishes two versions. */
async function openBehind(): Promise<TestSocket> {
  const { socket } = await open(1)
  socket.take()
  socket.isStuck = true
  socket.bufferedAmount = 300_000
  for (const name of ['a', 'b']) {
    await set(name, 'changed')
    await settle()
  }
  return socket
}

const updatesIn = (socket: TestSocket) =>
  socket.take().map((message) => (message as FlagSetMessage).update)

describe('A socket with a flag set', () => {
  it('The first message has no changes if the client has the newest version', async () => {
    const { socket } = await open(1)
    const { root } = flagSetRoot(await stored())
    const update = { from: 1, to: 1, flags: [], segments: [], root }
    expect(socket.take()).toEqual([{ type: 'flagSet', version: 1, update }])
  })

  it('The first message contains the changes since the version of the client', async () => {
    const before = await stored()
    await set('a', 'changed')
    await set('b', 'changed')
    await settle()
    const [update] = updatesIn((await open(1)).socket)
    if (update === undefined) throw new Error('There is no update')
    expect(mergeChanges(before, { version: update.to, ...update })).toEqual(await stored())
  })

  it('The first message has no update if the client has no version or one that the store has lost', async () => {
    expect((await open(undefined)).socket.take()).toEqual([{ type: 'flagSet', version: 1 }])
    const restored = { type: 'flagSet', version: 1, restored: true }
    expect((await open(9)).socket.take()).toEqual([restored])
  })

  it('Each change is sent once, and the changes lead to the flag set of the store', async () => {
    let known = await stored()
    const { socket } = await open(1)
    socket.take()
    for (let round = 0; round < 20; round += 1) {
      await set('abc'[round % 3] ?? 'a', `value ${round}`)
      await settle()
    }
    for (const update of updatesIn(socket)) {
      if (update === undefined) throw new Error('There is no update')
      expect(update.from).toBe(known.version)
      known = mergeChanges(known, { version: update.to, ...update })
      expect(flagSetRoot(known).root).toBe(update.root)
    }
    expect(known).toEqual(await stored())
  })

  it('All clients with the same version receive the same message, without a read of the store', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => open(1)))
    for (const { socket } of clients) socket.sent.length = 0
    store.calls.length = 0
    await set('a', 'changed')
    await settle()
    expect(new Set(clients.map(({ socket }) => socket.sent[0])).size).toBe(1)
    // The cache reads the new version one time.
    expect(store.calls.filter((name) => name === 'loadChanges')).toHaveLength(1)
  })

  it('An update of more than 65,536 characters is replaced by a message without update', async () => {
    const { socket } = await open(1)
    socket.take()
    await set('a', 'x'.repeat(70_000))
    await settle()
    expect(socket.take()).toEqual([{ type: 'flagSet', version: 2 }])
    await set('a', 'short')
    await settle()
    expect(updatesIn(socket)).toMatchObject([{ from: 2, to: 3 }])
  })

  it('A slow client receives all changes in one message when it has read the others', async () => {
    const socket = await openBehind()
    expect(socket.take()).toEqual([])
    socket.drain()
    await until(() => socket.messages.length > 0)
    expect(updatesIn(socket)).toMatchObject([{ from: 1, to: 3 }])
  })

  it('While the store cannot be read, the message about several changes has no update', async () => {
    const socket = await openBehind()
    store.break()
    socket.drain()
    await until(() => socket.messages.length > 0)
    expect(socket.take()).toEqual([{ type: 'flagSet', version: 3 }])
  })

  it('A step of a gradual rollout sends nothing, because clients compute it themselves', async () => {
    await change(flagChange(rampFlag('ramp', '2030-01-01T00:00:00.000Z', 10)))
    await settle()
    const { socket } = await open(2)
    socket.take()
    await clock.advance(3 * 3_600_000)
    expect(socket.take()).toEqual([])
  })

  it('A client key is refused with 403 and the close code 4401', async () => {
    const { socket } = await open(1, live.sdkKey)
    expect(socket.closedWith).toBe(4401)
    expect(socket.take()).toEqual([{ type: 'error', error: expect.any(String), statusCode: 403 }])
  })

  it('A context is refused, and a ping is answered', async () => {
    const { socket, say } = await open(1)
    socket.take()
    await say({ type: 'ping' })
    expect(socket.take()).toEqual([{ type: 'pong' }])
    await say({ type: 'context', context: {} })
    expect(socket.closedWith).toBe(4400)
  })

  it('A closed socket receives nothing more, and the server closes open ones with 1001', async () => {
    const [first, second] = [await open(1), await open(1)]
    flags.releaseSocket(first.connection)
    for (const { socket } of [first, second]) socket.take()
    await set('a', 'changed')
    await settle()
    expect([first, second].map(({ socket }) => socket.take().length)).toEqual([0, 1])
    await flags.close()
    expect(second.socket.closedWith).toBe(1001)
  })
})
