import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../../../server/test/fake-clock.ts'
import { flagChange, textFlag } from '../../../server/test/seed.ts'
import type { LocalClient } from '../../src/local.ts'
import {
  createLocalScene,
  type LocalScene,
  untilCurrent,
  user,
  type Values,
} from './local-scene.ts'

let scene: LocalScene
const rejections: unknown[] = []
const noteRejection = (error: unknown) => void rejections.push(error)

beforeEach(async () => {
  process.on('unhandledRejection', noteRejection)
  scene = await createLocalScene()
  await scene.publish(flagChange(textFlag('banner', 'hello')))
})

afterEach(async () => {
  await scene.close()
  await settle()
  process.off('unhandledRejection', noteRejection)
  expect(rejections.splice(0)).toEqual([])
})

const endless: Record<string, unknown> = { kind: 'user' }
endless['self'] = endless
const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error('a hostile context')
    },
    ownKeys() {
      throw new Error('a hostile context')
    },
  },
)

const bad: readonly unknown[] = [
  ...[undefined, null, true, 0, NaN, Infinity, '', 'text', Symbol('s'), 7n],
  ...[[], [{ kind: 'user' }], {}, { key: 'u' }, { kind: '' }, { kind: 7 }, { kind: 'multi' }],
  ...[
    () => {},
    new Date(),
    new Map(),
    endless,
    hostile,
    Object.create(null),
    { kind: 'multi', user: 7 },
  ],
  ...[
    JSON.parse('{"__proto__":{"kind":"user"}}'),
    { kind: 'user', key: { a: 1 } },
    'x'.repeat(100_000),
  ],
]

/** Calls all methods of a local client and of a view with a value. */
async function callAll(local: LocalClient<Values>, value: unknown): Promise<void> {
  const any = value as never
  for (const key of [any, 'banner' as const, 'title' as const, '__proto__' as never]) {
    local.value(key, any)
    local.value(key, any, any)
    local.detail(key, any)
    local.detail(key, user, any)
    local.subscribe(key, any)()
  }
  local.all(any)
  local.snapshot(any)
  local.subscribe(any)
  local.ready(any)
  local.for(() => any).value('banner', any)
  const view = local.for(any)
  view.value(any, any)
  view.detail(any, any)
  view.subscribe(any, any)
  await view.setContext(any)
  view.freeze()
  await view.reset(any)
  view.unfreeze()
  view.snapshot()
  view.ready(any)
  expect(view.status).toBeDefined()
  expect(local.status).toBeDefined()
}

describe('a local client', () => {
  it('No method throws or rejects with bad input: before, while and after it has a flag set.', async () => {
    for (const value of bad) {
      const local = scene.create()
      await callAll(local, value)
      await untilCurrent(scene, local)
      await callAll(local, value)
      await scene.publish(flagChange(textFlag('banner', `${Math.random()}`)))
      await settle()
      await local.close()
      await callAll(local, value)
      expect(local.value('banner', user)).not.toBe('none')
    }
  })

  it('An invalid context yields the fallback, with the reason in the detail.', async () => {
    const local = scene.create()
    await untilCurrent(scene, local)
    for (const context of [undefined, null, 7, 'text', [], { key: 'u' }, { kind: '' }, hostile]) {
      expect(local.value('banner', context as never)).toBe('none')
      expect(local.detail('banner', context as never)).toMatchObject({
        value: 'none',
        source: 'fallback',
        errorCode: 'INVALID_CONTEXT',
      })
    }
  })

  it('Options with wrong types throw nothing after the creation.', async () => {
    for (const value of bad.filter((each) => each !== hostile)) {
      const any = value as never
      for (const name of ['flags', 'cache', 'extensions', 'onError', 'transport'] as const) {
        const local = scene.create({ [name]: any })
        local.value('banner', user)
        local.detail('banner', user)
        await settle()
        void local.close()
        await scene.clock.advance(5000)
      }
    }
  })

  it('close() at every await leaves no timer, no socket and no rejection.', async () => {
    const cache = new Map<string, string>()
    for (const transport of ['auto', 'long-poll', 'request'] as const) {
      for (let turns = 0; turns < 60; turns += 1) {
        const local = scene.create({
          transport,
          sources: ['server', async () => ({ version: 0, flags: [], segments: [] })],
          cache: {
            get: async (name) => cache.get(name),
            set: async (name, text) => void cache.set(name, text),
            remove: async (name) => void cache.delete(name),
          },
        })
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
        if (turns > 30) await scene.clock.advance(1)
        local.value('banner', user)
        const ready = local.ready()
        void local.close()
        await scene.clock.advance(5000)
        await Promise.all([ready, local.close()])
        expect(scene.network.sockets.size).toBe(0)
        expect(scene.timers.size).toBe(0)
      }
    }
  })

  it('After 1,000 clients are created and closed, no timer and no socket is left.', async () => {
    for (let count = 0; count < 1000; count += 1) {
      const local = scene.create()
      if (count % 10 === 0) await settle()
      void local.close()
    }
    await scene.clock.advance(5000)
    expect(scene.network.sockets.size).toBe(0)
    expect(scene.timers.size).toBe(0)
  })

  it('Values never go back to fallbacks or older versions while the server flaps 100 times.', async () => {
    const local = scene.create()
    await untilCurrent(scene, local)
    const seen: number[] = []
    for (let flap = 0; flap < 100; flap += 1) {
      scene.network.down()
      await scene.clock.advance(200 + flap * 48)
      seen.push(local.status.version)
      expect(local.value('banner', user)).not.toBe('none')
      scene.network.isDown = false
      await scene.publish(flagChange(textFlag('banner', `flap ${flap}`)))
      await scene.clock.advance(200)
      seen.push(local.status.version)
    }
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    await scene.clock.advance(60_000)
    expect(local.value('banner', user)).toBe('flap 99')
    expect(scene.network.sockets.size).toBeLessThanOrEqual(1)
    expect(scene.errors.map(String)).toEqual([
      'Error: The flag server http://flags.test is not available: cannot reach',
    ])
  })
})
