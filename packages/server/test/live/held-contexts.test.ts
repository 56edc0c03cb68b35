import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MAX_HELD_CONTEXT_BYTES, MAX_POLL_BODY_BYTES } from '@ff/protocol/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { FlagServerOptions } from '../../src/options.ts'
import { type Called, call, evaluate, poll } from '../call.ts'
import { allInMemory, breakable } from '../capabilities.ts'
import { FakeClock, settle, until } from '../fake-clock.ts'
import { addSdkKey, flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const KIB = 1024
/** A budget for 16 contexts of 32 KiB: 4 for each key, 8 for each organization. */
const BUDGET = 512 * KIB

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let store: ReturnType<typeof breakable>
let flags: FlagServer
let live: SeededEnvironment
/** Environments of other organizations. */
let others: SeededEnvironment[]

beforeEach(async () => {
  clock = new FakeClock()
  memory = allInMemory()
  store = breakable(memory.storage)
  ;({ live } = await seed(memory.storage))
  others = []
  for (let count = 0; count < 3; count += 1) others.push((await seed(memory.storage)).live)
  for (const { environmentId } of [live, ...others]) {
    await publish(memory, environmentId, flagChange(textFlag('banner', 'hello')))
  }
})

async function start(options: FlagServerOptions = {}): Promise<void> {
  const { storage } = store
  flags = createFlagServer({ ...memory, storage, clock, metricsArePublic: true, ...options })
  await flags.start()
  for (const { sdkKey } of [live, ...others]) await evaluate(flags, sdkKey, {})
}

/** Creates a context with a JSON text of `length` characters. */
function contextOf(length: number, key = 'user', character = 'x') {
  // The length of a single text in a context is limited.
  const filler = Array.from({ length: Math.floor(length / 5000) }, () => character.repeat(4900))
  const rest = length - JSON.stringify({ kind: 'user', key, filler, rest: '' }).length
  return { kind: 'user', key, filler, rest: character.repeat(rest) }
}

interface Sent {
  answer: Called | undefined
  readonly leave: () => void
}

/** Sends a poll. `answer` is set when it has received its reply. */
async function send(sdkKey: string, context: unknown, since?: string): Promise<Sent> {
  const leaver = new AbortController()
  const sent: Sent = { answer: undefined, leave: () => leaver.abort() }
  const body = { context, ...(since === undefined ? {} : { since }) }
  poll(flags, sdkKey, body, leaver.signal).then(
    (answer) => {
      sent.answer = answer
    },
    () => undefined,
  )
  await settle()
  return sent
}

/** Opens a socket, sends `init` and waits for a message. */
async function open(sdkKey: string, context: unknown) {
  const socket = new TestSocket()
  const connection = flags.acceptSocket(socket)
  connection.receive(JSON.stringify({ type: 'init', sdkKey, context }))
  await until(() => socket.messages.length > 0)
  return { socket, connection }
}

async function metric(name: string): Promise<number> {
  const text = await (await flags.fetch(new Request('http://flags.test/metrics'))).text()
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  )
}

const heldBytes = () => metric('ff_held_context_bytes')
const gaveWay = () => metric('ff_live_clients_gave_way_total')

const retryAfter = expect.stringMatching(/^[1-9]\d?$/)

describe('The size limit of contexts of live clients', () => {
  const tooLarge = contextOf(MAX_HELD_CONTEXT_BYTES + 1)

  it('A poll with a context of more than 64 KiB is refused with 413, and the error names the field and the limit', async () => {
    await start()
    const answer = await poll(flags, live.sdkKey, { context: tooLarge })
    expect(answer).toMatchObject({
      status: 413,
      body: {
        error: '`context` of a live client must be at most 65536 bytes of JSON (got 65537).',
      },
    })
    const { status } = await poll(flags, live.sdkKey, { context: {}, since: 'x'.repeat(70_000) })
    expect(status).toBe(413)
  })

  it('The size of a context is measured in bytes of UTF-8', async () => {
    await start()
    expect((await send(live.sdkKey, contextOf(21_000, 'user', '語'))).answer).toBeUndefined()
    const { answer } = await send(live.sdkKey, contextOf(22_000, 'user', '語'))
    expect(answer?.status).toBe(413)
  })

  it('A poll accepts a context of exactly 64 KiB, and an evaluation accepts a larger one', async () => {
    await start()
    const largest = contextOf(MAX_HELD_CONTEXT_BYTES)
    expect(JSON.stringify({ context: largest }).length).toBeLessThan(MAX_POLL_BODY_BYTES)
    expect((await send(live.sdkKey, largest)).answer).toBeUndefined()
    expect((await evaluate(flags, live.sdkKey, tooLarge)).status).toBe(200)
  })

  it('A socket is closed with 4400 if the context of an init or context message is too large', async () => {
    await start()
    const { socket } = await open(live.sdkKey, tooLarge)
    expect(socket.messages).toMatchObject([{ type: 'error', statusCode: 413 }])
    expect(socket.closedWith).toBe(4400)
    const later = await open(live.sdkKey, contextOf(MAX_HELD_CONTEXT_BYTES))
    later.connection.receive(JSON.stringify({ type: 'context', context: tooLarge }))
    await settle()
    expect(later.socket.messages).toMatchObject([
      { type: 'flags', full: true },
      { type: 'error', statusCode: 413 },
    ])
    expect(later.socket.closedWith).toBe(4400)
    expect(await heldBytes()).toBe(0)
  })
})

describe('The memory budget of contexts', () => {
  it('Every client is charged for its context, even if clients share one context, and the charge is zero after all clients have left', async () => {
    await start()
    const ascii = contextOf(1000)
    const wide = contextOf(1000, 'user', '語')
    const sent = [await send(live.sdkKey, ascii), await send(live.sdkKey, ascii)]
    expect(await heldBytes()).toBe(2000)
    const { connection } = await open(live.sdkKey, wide)
    expect(await heldBytes()).toBe(4000)
    connection.receive(JSON.stringify({ type: 'context', context: contextOf(500) }))
    await settle()
    expect(await heldBytes()).toBe(2500)
    flags.releaseSocket(connection)
    for (const { leave } of sent) leave()
    await settle()
    expect(await heldBytes()).toBe(0)
  })

  it('The charge is released when polls receive replies and keys are revoked', async () => {
    await start()
    const { id, sdkKey } = await addSdkKey(memory.storage, live)
    await send(live.sdkKey, contextOf(1000))
    await publish(memory, live.environmentId, flagChange(textFlag('banner', 'changed')))
    await settle()
    expect(await heldBytes()).toBe(0)
    await memory.changeFeed.publish({ type: 'sdkKeys' })
    await settle()
    await evaluate(flags, sdkKey, {})
    await send(sdkKey, contextOf(1000))
    await open(sdkKey, contextOf(1000))
    expect(await heldBytes()).toBe(2000)
    await memory.storage.update('sdkKey', id, { revokedAt: new Date(clock.now()).toISOString() })
    await memory.changeFeed.publish({ type: 'sdkKeys' })
    await settle()
    expect(await heldBytes()).toBe(0)
  })

  it('One key can use a quarter of the budget, further clients of the key are refused with 429 or 1013, and other keys have room', async () => {
    await start({ maxHeldContextBytes: BUDGET })
    for (let count = 0; count < 4; count += 1) {
      expect((await send(live.sdkKey, contextOf(32 * KIB, `${count}`))).answer).toBeUndefined()
    }
    const { answer } = await send(live.sdkKey, contextOf(100, 'more'))
    expect(answer).toMatchObject({ status: 429, body: { statusCode: 429 } })
    expect(answer?.headers.get('retry-after')).toEqual(retryAfter)
    const { socket } = await open(live.sdkKey, contextOf(100, 'more'))
    expect(socket.messages).toMatchObject([{ type: 'error', statusCode: 429 }])
    expect(socket.closedWith).toBe(1013)
    for (const { sdkKey } of others) {
      expect((await send(sdkKey, contextOf(32 * KIB))).answer).toBeUndefined()
    }
    expect(await gaveWay()).toBe(0)
  })

  it('One organization can use half of the budget, independently of the number of its keys', async () => {
    await start({ maxHeldContextBytes: BUDGET })
    const keys = [live.sdkKey]
    for (let count = 0; count < 2; count += 1) {
      keys.push((await addSdkKey(memory.storage, live)).sdkKey)
    }
    await memory.changeFeed.publish({ type: 'sdkKeys' })
    await settle()
    const statuses: (number | undefined)[] = []
    for (const [index, key] of keys.entries()) {
      await evaluate(flags, key, {})
      for (let count = 0; count < 4; count += 1) {
        const { answer } = await send(key, contextOf(32 * KIB, `${index} ${count}`))
        statuses.push(answer?.status)
      }
    }
    expect(statuses).toEqual([...Array(8).fill(undefined), ...Array(4).fill(429)])
  })

  it('When the budget is full, clients of the largest key of the largest organization are ended', async () => {
    await start({ maxHeldContextBytes: BUDGET })
    const [second, third, fourth] = others
    if (!second || !third || !fourth) throw new Error('no other organizations')
    const spared = [await send(live.sdkKey, contextOf(64 * KIB, 'a'))]
    const large: Sent[] = []
    const { socket } = await open(live.sdkKey, contextOf(64 * KIB - 1, 'b'))
    for (const [index, { sdkKey }] of [second, third].entries()) {
      const bytes = 31 * KIB
      for (let count = 0; count < 4; count += 1) {
        large.push(await send(sdkKey, contextOf(bytes, `${count}`)))
      }
      const { sdkKey: more } = await addSdkKey(memory.storage, index === 0 ? second : third)
      await memory.changeFeed.publish({ type: 'sdkKeys' })
      await settle()
      await evaluate(flags, more, {})
      for (let count = 0; count < 2; count += 1) {
        spared.push(await send(more, contextOf(bytes, `${count}`)))
      }
    }
    expect(await gaveWay()).toBe(0)
    const newcomer = await send(fourth.sdkKey, contextOf(60 * KIB))
    expect(newcomer.answer).toBeUndefined()
    expect(large.filter(({ answer }) => answer?.status === 429)).toHaveLength(2)
    expect(spared.map(({ answer }) => answer)).toEqual(spared.map(() => undefined))
    expect(socket.closedWith).toBeUndefined()
    expect(await gaveWay()).toBe(2)
    expect(await heldBytes()).toBeLessThanOrEqual(BUDGET)
  })

  it('A full server closes a socket with 1013 to make room, and refuses a poll with 429 if its organization would become as large', async () => {
    await start({ maxLiveClients: 3 })
    const [other] = others
    if (!other) throw new Error('no other organization')
    const { socket } = await open(live.sdkKey, contextOf(3000))
    const first = await send(live.sdkKey, contextOf(2000))
    const last = await send(live.sdkKey, contextOf(1000))
    socket.take()
    const newcomers = [await send(other.sdkKey, contextOf(100))]
    expect(socket.take()).toMatchObject([{ type: 'error', statusCode: 429 }])
    expect(socket.closedWith).toBe(1013)
    expect(first.answer).toBeUndefined()
    newcomers.push(await send(other.sdkKey, contextOf(100)))
    expect(newcomers.map(({ answer }) => answer?.status)).toEqual([undefined, 429])
    expect([first.answer, last.answer]).toEqual([undefined, undefined])
    expect(await gaveWay()).toBe(1)
    last.leave()
    await settle()
    const [, third] = others
    newcomers.push(await send(third?.sdkKey ?? '', {}))
    expect(await heldBytes()).toBe(2000 + 100 + 2)
  })

  it('Polls that wait for the store are charged', async () => {
    await start({ maxHeldContextBytes: BUDGET })
    store.hold()
    const since = `"999.0-${'0'.repeat(32)}-${'0'.repeat(32)}"`
    const sent: Sent[] = []
    for (let count = 0; count < 5; count += 1) {
      sent.push(await send(live.sdkKey, contextOf(32 * KIB, `${count}`), since))
    }
    expect(sent.map(({ answer }) => answer?.status)).toEqual([...Array(4).fill(undefined), 429])
    expect(await heldBytes()).toBe(4 * 32 * KIB)
    store.release()
    await until(() => sent.every(({ answer }) => answer !== undefined))
    expect(sent.map(({ answer }) => answer?.status)).toEqual([...Array(4).fill(200), 429])
    expect(await heldBytes()).toBe(0)
  })

  it('The smallest allowed budget has room for the largest context of a key', async () => {
    const least = 512 * KIB
    await start({ maxHeldContextBytes: least })
    const widest = contextOf(MAX_HELD_CONTEXT_BYTES - 2, 'user').filler
    const context = { kind: 'user', key: '語', filler: widest }
    expect((await send(live.sdkKey, context)).answer).toBeUndefined()
    expect(() => createFlagServer({ maxHeldContextBytes: least - 1 })).toThrow(
      '`maxHeldContextBytes` must be an integer of at least 524288 (got 524287).',
    )
  })

  it('A poll that receives an immediate reply needs no place in the budget', async () => {
    await start({ maxLiveClients: 1 })
    const held = await send(live.sdkKey, { kind: 'user', key: 'a' })
    const { answer } = await send(live.sdkKey, { kind: 'user', key: 'b' }, 'unknown')
    expect(answer?.status).toBe(200)
    expect(held.answer).toBeUndefined()
  })
})

describe('The stored context of a live client', () => {
  it('After a delivery with different values and a slow client, contexts are kept in memory only as text', async () => {
    await start()
    const bits = [0, 1, 2, 3, 4, 5]
    const changes = bits.map((bit) => {
      const conditions = [{ attribute: `bit-${bit}`, operator: 'eq', value: '1' }]
      return flagChange(textFlag(`flag-${bit}`, 'no', [{ conditions }]))
    })
    const attributes = Object.fromEntries(
      Array.from({ length: 1900 }, (_, index) => [`attribute-${index}`, `value ${index}`]),
    )
    const clients: Awaited<ReturnType<typeof open>>[] = []
    for (let client = 0; client < 64; client += 1) {
      const own = Object.fromEntries(bits.map((bit) => [`bit-${bit}`, String((client >> bit) & 1)]))
      clients.push(
        await open(live.sdkKey, { kind: 'user', key: `${client}`, ...own, ...attributes }),
      )
    }
    const slow = await open(live.sdkKey, { kind: 'user', key: 'slow' })
    slow.socket.bufferedAmount = 1024 * KIB
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    await publish(memory, live.environmentId, ...changes)
    await until(() => clients.every(({ socket }) => socket.messages.length === 2))
    collectGarbage()
    const text = clients.length * JSON.stringify(attributes).length
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(0.5 * text)
    expect(new Set(clients.map(({ socket }) => socket.sent[1]?.text)).size).toBe(64)
  })

  it('A context that was stored as text is evaluated correctly', async () => {
    await start()
    const context = { kind: 'user', key: 'u', plan: 'pro', __proto__: 1, list: ['語', null, 1.5] }
    const text = JSON.stringify(context).replace('"list"', '"__proto__":{"plan":"free"},"list"')
    const { answer } = {
      answer: call(flags, '/evaluator/poll', {
        key: live.sdkKey,
        body: `{"context":${text}}`,
      }),
    }
    await settle()
    const rules = ['plan', 'list'].map((attribute) => ({
      conditions: [
        {
          attribute,
          operator: attribute === 'plan' ? 'eq' : 'contains',
          value: attribute === 'plan' ? 'pro' : '語',
        },
      ],
    }))
    const changes = rules.map((rule, index) => flagChange(textFlag(`flag-${index}`, 'no', [rule])))
    await publish(memory, live.environmentId, ...changes)
    expect((await answer).body).toEqual({ banner: 'hello', 'flag-0': 'other', 'flag-1': 'other' })
  })
})
