import type { Storage } from '@ff/storage'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { createFlagServer } from '../../src/flag-server.ts'
import { allInMemory, disordered, losable } from '../capabilities.ts'
import { sized } from '../drills/scale.ts'
import { FakeClock, settle, until } from '../fake-clock.ts'
import { flagChange, publish, rampFlag, seed, textFlag } from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

const LONGEST_MS = sized({ full: 600_000, small: 60_000 })

const environmentChange = fc.oneof(
  fc.record({
    type: fc.constant('set' as const),
    key: fc.constantFrom('a', 'b'),
    value: fc.constantFrom('x', 'y'),
  }),
  fc.record({ type: fc.constant('remove' as const), key: fc.constantFrom('a', 'b') }),
)
const happening = fc.oneof(
  { weight: 3, arbitrary: environmentChange },
  fc.record({ type: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4_000_000 }) }),
  fc.record({ type: fc.constant('read' as const), isStuck: fc.boolean() }),
  fc.record({ type: fc.constant('feed' as const), isLosing: fc.boolean() }),
  fc.record({ type: fc.constant('context' as const), n: fc.integer({ min: 0, max: 5 }) }),
)

const hint = fc.record({
  type: fc.constant('hint' as const),
  instance: fc.nat(1),
  place: fc.nat(20),
  isKept: fc.boolean(),
})
const happeningElsewhere = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ type: 'change' as const }) },
  { weight: 3, arbitrary: hint },
  { weight: 4, arbitrary: fc.constant({ type: 'read' as const }) },
  fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 4000 }) }),
)

/** Returns the values of a client that applies every message. */
function receivedValues(socket: TestSocket): Record<string, unknown> {
  let values: Record<string, unknown> = {}
  for (const message of socket.messages) {
    if (message.type !== 'flags') continue
    values = message.full ? { ...message.flags } : { ...values, ...message.flags }
    for (const key of message.removed ?? []) delete values[key]
  }
  return values
}

describe('Arbitrary sequences of events', { timeout: LONGEST_MS }, () => {
  it('A client receives ascending versions and ends with the values of its context', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 12 }), async (happenings) => {
        const clock = new FakeClock()
        const memory = allInMemory()
        const feed = losable(memory.changeFeed)
        const parts = { storage: memory.storage, changeFeed: feed.changeFeed }
        const { live } = await seed(memory.storage)
        const startAt = new Date(clock.now() + 1000).toISOString()
        await publish(parts, live.environmentId, flagChange(rampFlag('ramp', startAt, 20)))
        const flags = createFlagServer({ ...memory, ...parts, clock })
        const socket = new TestSocket()
        const connection = flags.acceptSocket(socket)
        let context = { kind: 'user', key: '0' }
        connection.receive(JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context }))
        await until(() => socket.messages.length > 0)
        for (const one of happenings) {
          switch (one.type) {
            case 'set':
              await publish(parts, live.environmentId, flagChange(textFlag(one.key, one.value)))
              break
            case 'remove': {
              const gone = { kind: 'flag', id: `flag-${one.key}`, definition: null } as const
              await publish(parts, live.environmentId, gone)
              break
            }
            case 'wait':
              clock.set(clock.now() + one.ms)
              break
            case 'read':
              socket.isStuck = one.isStuck
              // Bytes are already being sent when the client stops reading, and then the buffer is
              // full.
              connection.receive('{"type":"ping"}')
              await settle()
              if (one.isStuck) socket.bufferedAmount = 1024 * 1024
              else socket.drain()
              break
            case 'feed':
              feed.lose(one.isLosing)
              break
            case 'context':
              context = { kind: 'user', key: String(one.n) }
              connection.receive(JSON.stringify({ type: 'context', context }))
          }
          await settle()
        }
        socket.drain()
        await clock.advance(9999)
        expect(socket.closedWith).toBeUndefined()
        expect(receivedValues(socket)).toEqual({ ...(await flags.allOrThrow(live, context)) })
        const versions = socket.messages.flatMap((one) => (one.type === 'flags' ? one.version : []))
        expect(versions).toEqual([...versions].sort((a, b) => a - b))
        await flags.close()
      }),
      { numRuns: runs(sized({ full: 1000, small: 60 })) },
    )
  })

  it('Clients never receive older values and end with the newest, even if hints are late, repeated or reordered and reads are slow', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(happeningElsewhere, { maxLength: 30 }),
        async (scheduler, happenings) => {
          const clock = new FakeClock()
          const memory = allInMemory()
          const { live } = await seed(memory.storage)
          let count = 0
          const change = () =>
            publish(memory, live.environmentId, flagChange(textFlag('count', String(++count))))
          await change()
          const context = { kind: 'user', key: 'a' }
          const instances = await Promise.all(
            [0, 1].map(async () => {
              const { changeFeed, letThrough } = disordered(memory.changeFeed)
              const storage = withDelays(memory.storage, scheduler)
              const flags = createFlagServer({ ...memory, storage, changeFeed, clock })
              const socket = new TestSocket()
              const init = { type: 'init', sdkKey: live.sdkKey, context }
              flags.acceptSocket(socket).receive(JSON.stringify(init))
              return { flags, socket, letThrough, counts: [] as number[] }
            }),
          )
          while (instances.some(({ socket }) => socket.messages.length === 0)) {
            await endReads(scheduler)
          }
          for (const one of happenings) {
            if (one.type === 'change') await change()
            else if (one.type === 'pass') await clock.advance(one.ms)
            else if (one.type === 'hint') instances[one.instance]?.letThrough(one.place, one.isKept)
            else if (scheduler.count() > 0) await scheduler.waitOne()
            await settle()
            for (const { flags, counts } of instances) {
              counts.push(Number((await flags.allOrThrow(live, context))['count']))
            }
          }
          await clock.advance(9999)
          await endReads(scheduler)
          for (const { flags, socket, counts } of instances) {
            const received = socket.messages.flatMap((message) =>
              message.type === 'flags' ? Number(message.flags['count']) : [],
            )
            for (const seen of [received, counts])
              expect(seen).toEqual(seen.toSorted((a, b) => a - b))
            expect(received.at(-1)).toBe(count)
            expect(await flags.allOrThrow(live, context)).toEqual({ count: String(count) })
            await flags.close()
          }
        },
      ),
      { numRuns: runs(sized({ full: 1000, small: 100 })) },
    )
  })

  it('A change that is committed at any time between reading and subscribing is sent', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.constantFrom('x', 'y', 'z'), { minLength: 1, maxLength: 5 }),
        async (scheduler, values) => {
          const clock = new FakeClock()
          const memory = allInMemory()
          const { live } = await seed(memory.storage)
          const storage = withDelays(memory.storage, scheduler)
          const flags = createFlagServer({ ...memory, storage, clock })
          const socket = new TestSocket()
          const connection = flags.acceptSocket(socket)
          const context = { kind: 'user', key: 'a' }
          connection.receive(JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context }))
          const writing = write(scheduler, values, async (value) => {
            await publish(memory, live.environmentId, flagChange(textFlag('banner', value)))
          })
          for (let isDone = false; !isDone || scheduler.count() > 0; ) {
            if (scheduler.count() > 0) await scheduler.waitOne()
            await settle()
            isDone = socket.messages.length > 0
          }
          await writing
          await endReads(scheduler)
          expect(receivedValues(socket)).toEqual({ banner: values.at(-1) })
          await flags.close()
        },
      ),
      { numRuns: runs(sized({ full: 10_000, small: 200 })) },
    )
  })
})

/** Runs all scheduled tasks. */
async function endReads(scheduler: fc.Scheduler): Promise<void> {
  await settle()
  while (scheduler.count() > 0) await scheduler.waitAll().then(settle)
}

/** Publishes the values. The scheduler decides when, in relation to the responses of the store. */
async function write(
  scheduler: fc.Scheduler,
  values: readonly string[],
  publishOne: (value: string) => Promise<void>,
): Promise<void> {
  for (const value of values)
    await scheduler.schedule(Promise.resolve(), 'write').then(() => publishOne(value))
}

/** Wraps a store so that the scheduler delays each load, before and after it reads. */
function withDelays(storage: Storage, scheduler: fc.Scheduler): Storage {
  return new Proxy(storage, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function' || !String(name).startsWith('load')) {
        return typeof value === 'function' ? value.bind(target) : value
      }
      return async (...parameters: unknown[]) => {
        await scheduler.schedule(Promise.resolve(), `call ${String(name)}`)
        const answer: unknown = await value.apply(target, parameters)
        await scheduler.schedule(Promise.resolve(), `return ${String(name)}`)
        return answer
      }
    },
  })
}
