import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { SocketConnection } from '../../src/live/socket-connection.ts'
import { allInMemory, breakable, losable } from '../capabilities.ts'
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

interface Client {
  readonly socket: TestSocket
  readonly connection: SocketConnection
  say(message: unknown): Promise<void>
}

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let store: ReturnType<typeof breakable>
let feed: ReturnType<typeof losable>
let flags: FlagServer
let live: SeededEnvironment
let staging: SeededEnvironment

const user = { kind: 'user', key: 'user-1', plan: 'pro' }
const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }

beforeEach(async () => {
  clock = new FakeClock()
  memory = allInMemory()
  store = breakable(memory.storage)
  feed = losable(memory.changeFeed)
  ;({ live, staging } = await seed(memory.storage))
  await set('banner', 'hello')
  await set('title', 'shop')
  flags = createFlagServer({
    ...memory,
    storage: store.storage,
    changeFeed: feed.changeFeed,
    clock,
  })
  await flags.start()
  for (const { sdkKey } of [live, staging]) await (await open({ sdkKey })).say({ type: 'none' })
  return () => flags.close()
})

const set = (key: string, value: string, rules: Parameters<typeof textFlag>[2] = []) =>
  publish(
    { storage: memory.storage, changeFeed: feed.changeFeed },
    live.environmentId,
    flagChange(textFlag(key, value, rules)),
  )

function connect(): Client {
  const socket = new TestSocket()
  const connection = flags.acceptSocket(socket)
  const say = async (message: unknown) => {
    connection.receive(typeof message === 'string' ? message : JSON.stringify(message))
    await settle()
  }
  return { socket, connection, say }
}

/** Opens a client and sends init. The reply is available from `socket.take`. */
async function open({ sdkKey = live.sdkKey, context = user as unknown } = {}): Promise<Client> {
  const client = connect()
  await client.say({ type: 'init', sdkKey, context })
  await until(() => client.socket.messages.length > 0)
  return client
}

describe('The init message', () => {
  it('The reply to init is a full message with every flag', async () => {
    const { socket } = await open()
    expect(socket.take()).toEqual([
      { type: 'flags', flags: { banner: 'hello', title: 'shop' }, version: 2, full: true },
    ])
  })

  it('A socket without init is closed with 4408 after ten seconds', async () => {
    const { socket } = connect()
    await clock.advance(9999)
    expect(socket.closedWith).toBeUndefined()
    await clock.advance(1)
    expect(socket.closedWith).toBe(4408)
    expect(socket.take()).toEqual([{ type: 'error', error: expect.any(String), statusCode: 408 }])
  })

  it.each([
    'no json',
    '[]',
    'null',
    '{}',
    { type: 'ping' },
    { type: 'context', context: {} },
    { type: 'later' },
    { type: 'init' },
    { type: 'init', sdkKey: 'ff_', context: 'user' },
  ])('A socket is closed with 4400 if its first message is %j', async (message) => {
    const { socket, say } = connect()
    await say(message)
    expect(socket.closedWith).toBe(4400)
    expect(socket.take()).toEqual([{ type: 'error', error: expect.any(String), statusCode: 400 }])
  })

  it('The error for an incomplete init message describes the valid messages', async () => {
    const { socket, say } = connect()
    await say({ type: 'init', context: {} })
    expect(socket.take()[0]).toMatchObject({ error: expect.stringContaining('"sdkKey"') })
  })

  it('An init with an invalid context is refused with 4400', async () => {
    const { socket } = await open({ context: { kind: '' } })
    expect(socket.closedWith).toBe(4400)
  })

  it('An init with an invalid key is refused with 4401', async () => {
    for (const sdkKey of ['', 'ff_1', `ff_${'0'.repeat(64)}`]) {
      const { socket } = await open({ sdkKey })
      expect(socket.closedWith).toBe(4401)
      expect(socket.take()).toEqual([{ type: 'error', error: expect.any(String), statusCode: 401 }])
    }
  })

  it('An init counts as a request, and is refused with 4429 if the rate limit is used up', async () => {
    const { sdkKey } = await addSdkKey(memory.storage, live, { rateLimit: 1 })
    expect((await open({ sdkKey })).socket.closedWith).toBeUndefined()
    const { socket } = await open({ sdkKey })
    expect(socket.closedWith).toBe(4429)
    expect(socket.take()).toMatchObject([{ type: 'error', statusCode: 429 }])
  })

  it('An init is refused with 1013 if the flags cannot be read', async () => {
    const { projectId } = live
    const { sdkKey } = await addSdkKey(memory.storage, { projectId, environmentId: 'unread' })
    await feed.changeFeed.publish({ type: 'sdkKeys' })
    await settle()
    store.break()
    const { socket } = await open({ sdkKey })
    expect(socket.closedWith).toBe(1013)
    expect(socket.take()).toMatchObject([{ type: 'error', statusCode: 500 }])
  })

  it('Messages that arrive while init is processed are processed afterwards, in order', async () => {
    const { socket, connection } = connect()
    connection.receive(JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context: user }))
    connection.receive(JSON.stringify({ type: 'ping' }))
    connection.receive(JSON.stringify({ type: 'context', context: {} }))
    connection.receive(JSON.stringify({ type: 'ping' }))
    await settle()
    expect(socket.take().map(({ type }) => type)).toEqual(['flags', 'pong', 'flags', 'pong'])
  })

  it('Many small messages can be queued, but the total length of the queued messages is limited', async () => {
    const { socket, connection } = connect()
    connection.receive(JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context: user }))
    for (let count = 0; count < 100; count += 1) connection.receive('{"type":"ping"}')
    await until(() => socket.messages.length === 101)
    const large = JSON.stringify({ type: 'context', context: { kind: 'a', b: 'x'.repeat(60_000) } })
    connection.receive(large)
    connection.receive(large)
    expect(socket.closedWith).toBeUndefined()
    connection.receive(large)
    expect(socket.closedWith).toBe(4429)
  })

  it('An init opens no session if the socket is closed before its key was verified', async () => {
    const { socket, connection } = connect()
    connection.receive(JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context: user }))
    flags.releaseSocket(connection)
    await settle()
    await set('banner', 'changed')
    await settle()
    expect(socket.take()).toEqual([])
  })
})

describe('A published change', () => {
  it('A change is sent with only the flags that have changed', async () => {
    const { socket } = await open()
    socket.take()
    await set('banner', 'changed')
    await settle()
    expect(socket.take()).toEqual([
      { type: 'flags', flags: { banner: 'changed' }, version: 3, full: false },
    ])
  })

  it('A change is sent neither to a client with unchanged values nor to another environment', async () => {
    const pro = await open()
    const free = await open({ context: { kind: 'user', key: 'b', plan: 'free' } })
    const other = await open({ sdkKey: staging.sdkKey })
    expect(other.socket.take()).toEqual([{ type: 'flags', flags: {}, version: 0, full: true }])
    pro.socket.take()
    free.socket.take()
    await set('banner', 'hello', [proRule])
    await settle()
    expect(pro.socket.take()).toMatchObject([{ flags: { banner: 'other' }, full: false }])
    expect(free.socket.take()).toEqual([])
    expect(other.socket.take()).toEqual([])
  })

  it('A change lists the keys of removed flags', async () => {
    const { socket } = await open()
    socket.take()
    await publish(memory, live.environmentId, { kind: 'flag', id: 'flag-banner', definition: null })
    await settle()
    expect(socket.take()).toEqual([
      { type: 'flags', flags: {}, version: 3, full: false, removed: ['banner'] },
    ])
  })

  it('A change includes the flags that depend on the changed flag', async () => {
    const dependent = {
      ...textFlag('dependent', 'yes'),
      offVariationId: 'dependent-other',
      prerequisites: [{ flagId: 'flag-banner', variationIds: ['banner-hello'] }],
    }
    await publish(memory, live.environmentId, flagChange(dependent))
    await settle()
    const { socket } = await open()
    expect(socket.take()).toMatchObject([{ flags: { dependent: 'yes' } }])
    await set('banner', 'hello', [proRule])
    await settle()
    expect(socket.take()).toMatchObject([{ flags: { banner: 'other', dependent: 'other' } }])
  })

  it('A step of a gradual rollout is sent once', async () => {
    const startAt = new Date(clock.now() + 20_000).toISOString()
    await publish(memory, live.environmentId, flagChange(rampFlag('ramp', startAt, 100)))
    const { socket } = await open()
    socket.take()
    await clock.advance(19_999)
    expect(socket.take()).toEqual([])
    await clock.advance(1)
    expect(socket.take()).toEqual([
      { type: 'flags', flags: { ramp: 'other' }, version: 3, full: false },
    ])
    await clock.advance(3_600_000)
    expect(socket.take()).toEqual([])
  })

  it('Every step of a gradual rollout is sent to the affected clients, even if another flag changes', async () => {
    const startAt = new Date(clock.now() + 3_600_000).toISOString()
    await publish(memory, live.environmentId, flagChange(rampFlag('ramp', startAt, 10)))
    const clients = await Promise.all(
      Array.from({ length: 40 }, (_, n) => open({ context: { kind: 'user', key: `u${n}` } })),
    )
    for (const { socket } of clients) socket.take()
    let updates = 0
    for (let step = 1; step <= 10; step += 1) {
      clock.set(clock.now() + 3_600_000)
      await set('title', `shop ${step}`)
      await settle()
      for (const { socket } of clients) {
        const [message, ...more] = socket.take()
        expect(more).toEqual([])
        if (message?.type !== 'flags') throw new Error('no flags')
        if (message.flags['ramp'] === 'other') updates += 1
      }
    }
    expect(updates).toBe(40)
  })

  it('A change is sent within ten seconds if its hint was lost', async () => {
    const { socket } = await open()
    socket.take()
    feed.lose(true)
    await set('banner', 'changed')
    await clock.advance(9999)
    expect(socket.take()).toMatchObject([{ flags: { banner: 'changed' } }])
  })

  it('A missed change is sent immediately when the change feed has reconnected', async () => {
    const { socket } = await open()
    socket.take()
    feed.lose(true)
    await set('banner', 'changed')
    await memory.changeFeed.publish({ type: 'resync' } as never)
    await settle()
    expect(socket.take()).toMatchObject([{ flags: { banner: 'changed' } }])
  })

  it('Ten thousand messages to resync cause two reads of the store', async () => {
    await open()
    const reads = vi.spyOn(store.storage, 'findVersions')
    for (let message = 0; message < 10_000; message += 1) {
      await memory.changeFeed.publish({ type: 'resync' } as never)
    }
    await settle()
    expect(reads).toHaveBeenCalledTimes(1)
    await clock.advance(1000)
    expect(reads).toHaveBeenCalledTimes(2)
  })

  it('Many changes are sent in order and end with the last one, even if hints are repeated and late', async () => {
    const { socket } = await open()
    socket.take()
    for (let round = 1; round <= 41; round += 1) {
      await set('banner', `round ${round}`)
      const version = round % 7
      await memory.changeFeed.publish({
        type: 'flagSet',
        environmentId: live.environmentId,
        version,
      })
    }
    await settle()
    const updates = socket.take().flatMap((message) => (message.type === 'flags' ? message : []))
    expect(updates.at(-1)).toMatchObject({ flags: { banner: 'round 41' }, version: 43 })
    const versions = updates.map(({ version }) => version)
    expect(versions).toEqual([...versions].sort((a, b) => a - b))
  })
})

describe('Messages after init', () => {
  it('The reply to a context message is a full message with every flag for that context', async () => {
    await set('banner', 'hello', [proRule])
    await settle()
    const { socket, say } = await open()
    expect(socket.take()).toMatchObject([{ flags: { banner: 'other' } }])
    await say({ type: 'context', context: {} })
    expect(socket.take()).toEqual([
      { type: 'flags', flags: { banner: 'hello', title: 'shop' }, version: 3, full: true },
    ])
    await set('banner', 'changed', [proRule])
    await settle()
    expect(socket.take()).toMatchObject([{ flags: { banner: 'changed' }, full: false }])
  })

  it('A context message counts as a request', async () => {
    const { sdkKey } = await addSdkKey(memory.storage, live, { rateLimit: 2 })
    const { socket, say } = await open({ sdkKey })
    await say({ type: 'context', context: {} })
    expect(socket.closedWith).toBeUndefined()
    await say({ type: 'context', context: {} })
    expect(socket.closedWith).toBe(4429)
  })

  it('The reply to a ping is a pong', async () => {
    const { socket, say } = await open()
    socket.take()
    await say({ type: 'ping' })
    expect(socket.take()).toEqual([{ type: 'pong' }])
  })

  it('A message of an unknown type is ignored', async () => {
    const { socket, say } = await open()
    socket.take()
    await say({ type: 'later', more: true })
    expect([socket.take(), socket.closedWith]).toEqual([[], undefined])
  })

  it.each(['no json', '7', '{}', '{"type":1}', '{"type":"context"}', '{"type":"__proto__'])(
    'A socket is closed with 4400 after the message %j',
    async (text) => {
      const { socket, say } = await open()
      socket.take()
      await say(text)
      expect(socket.closedWith).toBe(4400)
      expect(socket.take()).toMatchObject([{ type: 'error', statusCode: 400 }])
    },
  )

  it('A socket is closed with 4400 after a second init, and after an invalid context', async () => {
    const second = await open()
    await second.say({ type: 'init', sdkKey: live.sdkKey, context: user })
    expect(second.socket.closedWith).toBe(4400)
    const wrong = await open()
    await wrong.say({ type: 'context', context: { kind: 'multi' } })
    expect(wrong.socket.closedWith).toBe(4400)
  })

  it('A closed socket sends no more messages', async () => {
    const { socket, say } = await open()
    await say('no json')
    socket.take()
    await say({ type: 'ping' })
    await set('banner', 'changed')
    await settle()
    expect(socket.take()).toEqual([])
  })
})

describe('The end of a session', () => {
  it('Only the sockets of a revoked key are closed with 4401', async () => {
    const { id, sdkKey } = await addSdkKey(memory.storage, live)
    const [revoked, other] = [await open({ sdkKey }), await open()]
    revoked.socket.take()
    await memory.storage.update('sdkKey', id, { revokedAt: new Date(clock.now()).toISOString() })
    await feed.changeFeed.publish({ type: 'sdkKeys' })
    await settle()
    expect(revoked.socket.closedWith).toBe(4401)
    expect(revoked.socket.take()).toMatchObject([{ type: 'error', statusCode: 401 }])
    expect(other.socket.closedWith).toBeUndefined()
  })

  it('A socket is closed within ten seconds after its key has expired, or was revoked with a lost hint', async () => {
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    const expiring = await open({
      sdkKey: (await addSdkKey(memory.storage, live, { expiresAt })).sdkKey,
    })
    const { id, sdkKey } = await addSdkKey(memory.storage, live)
    await clock.advance(500)
    const revoked = await open({ sdkKey })
    feed.lose(true)
    await memory.storage.update('sdkKey', id, { revokedAt: new Date(clock.now()).toISOString() })
    await clock.advance(9999)
    expect([expiring.socket.closedWith, revoked.socket.closedWith]).toEqual([4401, 4401])
  })

  it('All sockets are closed with 1001 when the server closes, with or without init', async () => {
    const [idle, busy] = [connect(), await open()]
    await flags.close()
    expect([idle.socket.closedWith, busy.socket.closedWith]).toEqual([1001, 1001])
    expect(clock.timers).toBe(0)
  })
})

describe('A slow client', () => {
  const big = 'x'.repeat(300 * 1024)

  it('A slow client receives no further updates until it has read everything, and then one update with all changes', async () => {
    const { socket } = await open()
    socket.take()
    socket.isStuck = true
    await set('banner', big)
    await settle()
    expect(socket.take()).toHaveLength(1)
    for (let round = 0; round < 20; round += 1) await set('title', `round ${round}`)
    await set('banner', 'small')
    await settle()
    expect(socket.take()).toEqual([])
    socket.drain()
    await settle()
    expect(socket.take()).toEqual([
      { type: 'flags', flags: { banner: 'small', title: 'round 19' }, version: 24, full: false },
    ])
    await clock.advance(60_000)
    expect(socket.closedWith).toBeUndefined()
    await set('title', 'later')
    await settle()
    expect(socket.take()).toMatchObject([{ flags: { title: 'later' } }])
  })

  it('A slow client receives no update if all changes that it missed were undone', async () => {
    const { socket } = await open()
    socket.isStuck = true
    await set('banner', big)
    await settle()
    await set('title', 'other title')
    await settle()
    await set('title', 'shop')
    await settle()
    socket.take()
    socket.drain()
    await settle()
    expect(socket.take()).toEqual([])
  })

  it('A slow client that changes its context receives every flag after it has read everything', async () => {
    const { socket, say } = await open()
    socket.isStuck = true
    await set('banner', big)
    await settle()
    socket.take()
    await say({ type: 'context', context: {} })
    expect(socket.take()).toEqual([])
    socket.drain()
    await settle()
    expect(socket.take()).toMatchObject([{ type: 'flags', full: true, version: 3 }])
  })

  it('The socket of a slow client is closed with 1013 if the client does not continue reading', async () => {
    const { socket } = await open()
    socket.isStuck = true
    await set('banner', big)
    await settle()
    await set('title', 'changed')
    await settle()
    await clock.advance(9999)
    expect(socket.closedWith).toBeUndefined()
    await clock.advance(1)
    expect(socket.closedWith).toBe(1013)
  })

  it('No pongs are queued for a slow client', async () => {
    const { socket, say } = await open()
    socket.isStuck = true
    await set('banner', big)
    await settle()
    socket.take()
    for (let round = 0; round < 20; round += 1) await say({ type: 'ping' })
    expect(socket.take()).toEqual([])
  })
})
