import { beforeEach, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { evaluate, poll } from '../call.ts'
import { allInMemory, losable } from '../capabilities.ts'
import { FakeClock, settle } from '../fake-clock.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

let memory: ReturnType<typeof allInMemory>
let feed: ReturnType<typeof losable>
let flags: FlagServer
let live: SeededEnvironment

const user = { kind: 'user', key: 'u1' }

beforeEach(async () => {
  memory = allInMemory()
  feed = losable(memory.changeFeed)
  ;({ live } = await seed(memory.storage))
  await set('hello')
  flags = createFlagServer({ ...memory, changeFeed: feed.changeFeed, clock: new FakeClock() })
  await evaluate(flags, live.sdkKey, user)
  return () => flags.close()
})

const set = (value: string) =>
  publish(
    { storage: memory.storage, changeFeed: feed.changeFeed },
    live.environmentId,
    flagChange(textFlag('banner', value)),
  )

/** The tag of a version that the store does not have. */
const lost = `"9.0-${'0'.repeat(32)}-${'0'.repeat(32)}"`

async function open(since: number, id?: number) {
  const socket = new TestSocket()
  const connection = flags.acceptSocket(socket)
  const init = { type: 'init', sdkKey: live.sdkKey, context: user, since, id }
  connection.receive(JSON.stringify(init))
  await settle()
  return { socket, connection }
}

it('Replies to clients with a version that the store no longer has are marked as restored', async () => {
  const evaluated = await evaluate(flags, live.sdkKey, user, { 'if-none-match': lost })
  const polled = await poll(flags, live.sdkKey, { context: user, since: lost })
  for (const { status, headers, body } of [evaluated, polled]) {
    const restored = headers.get('x-ff-restored')
    expect([status, restored, body]).toEqual([200, 'true', { banner: 'hello' }])
    expect(headers.get('access-control-expose-headers')).toContain('X-FF-Restored')
  }
  const { socket } = await open(9, 4)
  expect(socket.take()).toEqual([
    { type: 'flags', flags: { banner: 'hello' }, version: 1, full: true, id: 4, restored: true },
  ])
})

it('Replies to other clients are not marked as restored', async () => {
  const { headers } = await evaluate(flags, live.sdkKey, user)
  expect(headers.get('x-ff-restored')).toBeNull()
  const tag = headers.get('etag') ?? ''
  const again = await evaluate(flags, live.sdkKey, user, { 'if-none-match': tag })
  expect([again.status, again.headers.get('x-ff-restored')]).toEqual([304, null])
  const { socket } = await open(1)
  expect(socket.take()).toEqual([
    { type: 'flags', flags: { banner: 'hello' }, version: 1, full: true },
  ])
})

it('A client with a newer version than this process receives the newer values, not marked as restored', async () => {
  feed.lose(true)
  await set('bye')
  const { socket } = await open(2)
  expect(socket.take()).toEqual([
    { type: 'flags', flags: { banner: 'bye' }, version: 2, full: true },
  ])
  await set('again')
  const tag = `"3.0-${'0'.repeat(32)}-${'0'.repeat(32)}"`
  const evaluated = await evaluate(flags, live.sdkKey, user, { 'if-none-match': tag })
  expect(evaluated.body).toEqual({ banner: 'again' })
  expect(evaluated.headers.get('x-ff-restored')).toBeNull()
})

it('The reply to a context has the id of the request', async () => {
  const { socket, connection } = await open(1, 0)
  for (const id of [1, 7, undefined]) {
    connection.receive(JSON.stringify({ type: 'context', context: {}, id }))
  }
  await settle()
  const ids = socket.take().map((message) => (message.type === 'flags' ? message.id : 'none'))
  expect(ids).toEqual([0, 1, 7, undefined])
})
