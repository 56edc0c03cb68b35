import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../../../server/test/fake-clock.ts'
import { addSdkKey, flagChange, textFlag } from '../../../server/test/seed.ts'
import { createFlagClient } from '../../src/index.ts'
import { createLocalClient } from '../../src/local.ts'
import { memoryCache } from '../../src/values/value-cache.ts'
import {
  createLocalScene,
  flags,
  type LocalScene,
  untilCurrent,
  user,
  whole,
} from './local-scene.ts'

let scene: LocalScene

beforeEach(async () => {
  scene = await createLocalScene()
  // Changes of a small flag set would be sent as a whole flag set.
  const others = ['1', '2', '3', '4', '5'].map((key) => flagChange(textFlag(key, 'x')))
  await scene.publish(flagChange(textFlag('banner', 'hello')), ...others)
})

afterEach(() => scene.close())

const set = (key: string, value: string) => scene.publish(flagChange(textFlag(key, value)))

describe('createLocalClient', () => {
  it.each(['auto', 'long-poll', 'request'] as const)(
    'A local client with the transport "%s" has the flag set of the server and its changes',
    async (transport) => {
      const local = scene.create({ transport })
      expect(local.value('banner', user)).toBe('none')
      expect(local.detail('banner', user).errorCode).toBe('PROVIDER_NOT_READY')
      await untilCurrent(scene, local)
      expect(local.value('banner', user)).toBe('hello')
      expect(await local.ready()).toBe('live')
      const version = await set('banner', 'changed')
      await scene.clock.advance(transport === 'request' ? 60_000 : 2000)
      expect(local.value('banner', user)).toBe('changed')
      expect(local.status).toMatchObject({ source: 'server', version, isCurrent: true })
      expect(local.status.root).toMatch(/^[0-9a-f]{64}$/)
      expect(scene.errors).toEqual([])
    },
  )

  it('A change over a socket is received without a request', async () => {
    const local = scene.create()
    await untilCurrent(scene, local)
    const before = scene.network.requests.length
    await set('banner', 'changed')
    await settle()
    expect(local.value('banner', user)).toBe('changed')
    expect(scene.network.requests.length).toBe(before)
    expect(scene.network.requests).toEqual(['GET /evaluator/flag-set', 'socket'])
  })

  it('A large change over a socket is requested over HTTP', async () => {
    const local = scene.create()
    await untilCurrent(scene, local)
    await set('banner', 'x'.repeat(70_000))
    await settle()
    await untilCurrent(scene, local)
    expect(local.value('banner', user)).toHaveLength(70_000)
    expect(scene.network.requests).toContain('GET /evaluator/flag-set?since=1')
    expect(scene.errors).toEqual([])
  })

  it('A detail contains the explanation, the origin and the version', async () => {
    const local = scene.create()
    await untilCurrent(scene, local)
    expect(local.detail('banner', user)).toMatchObject({
      flagKey: 'banner',
      value: 'hello',
      variationKey: 'hello',
      reason: 'STATIC',
      source: 'server',
      version: 1,
    })
    expect(local.detail('title', user)).toMatchObject({
      value: 'none',
      source: 'fallback',
      reason: 'ERROR',
      errorCode: 'FLAG_NOT_FOUND',
    })
    expect(local.detail('title', user, 'other').value).toBe('other')
    expect(local.value('title', user, 'other')).toBe('other')
  })

  it('A value of another type is replaced by the fallback', async () => {
    await set('count', 'text')
    await set('new-checkout', 'text')
    const local = scene.create()
    await untilCurrent(scene, local)
    expect(local.value('new-checkout', user)).toBe(false)
    expect(local.detail('new-checkout', user)).toMatchObject({
      value: false,
      variationKey: null,
      errorCode: 'TYPE_MISMATCH',
      source: 'fallback',
    })
    expect({ ...local.all(user) }).toEqual({
      banner: 'hello',
      title: 'none',
      count: 'text',
      'new-checkout': false,
    })
  })

  it('Listeners are called after the swap, with the changed flags only', async () => {
    await set('title', 'shop')
    const local = scene.create()
    await untilCurrent(scene, local)
    const calls: unknown[] = []
    const stop = local.subscribe((keys) => calls.push([keys, local.value('banner', user)]))
    local.subscribe('title', (keys) => calls.push(['title', keys]))
    local.subscribe(() => {
      throw new Error('a faulty listener')
    })
    local.subscribe('banner', () => calls.push('banner'))
    await set('banner', 'changed')
    await settle()
    expect(calls).toEqual([[['banner'], 'changed'], 'banner'])
    expect(scene.errors).toMatchObject([{ message: 'a faulty listener' }])
    stop()
    await set('title', 'changed')
    await settle()
    expect(calls.slice(2)).toEqual([['title', ['title']]])
  })

  it('Listeners are called at the steps of gradual rollouts', async () => {
    const { rampFlag } = await import('../../../server/test/seed.ts')
    await scene.publish(flagChange(rampFlag('banner', '2030-01-01T00:30:00.000Z', 100)))
    const local = scene.create()
    await untilCurrent(scene, local)
    const calls: unknown[] = []
    local.subscribe((keys) => calls.push(keys))
    const view = local.for(user)
    view.subscribe('banner', (value) => calls.push(value))
    await scene.clock.advance(3_600_000)
    expect(local.value('banner', user)).toBe('other')
    expect(calls).toEqual([['banner'], 'other'])
  })

  it('A client is not created in a page, or without a URL or a key', () => {
    const globals = globalThis as { window?: unknown }
    globals.window = {}
    try {
      expect(() => scene.create()).toThrow('cannot be used in a page')
    } finally {
      delete globals.window
    }
    expect(() => scene.create({ url: 'localhost:4400' })).toThrow('`url` must begin with http')
    expect(() => scene.create({ sdkKey: '' })).toThrow('`sdkKey` must only have')
    expect(() => createLocalClient(undefined as never)).toThrow('`url` must begin with http')
  })

  it('A refused key is reported once, and tried again after minutes', async () => {
    const { sdkKey } = await addSdkKey(scene.memory.storage, scene.live)
    const local = scene.create({ sdkKey })
    await scene.clock.advance(100_000)
    expect(local.status).toMatchObject({ failure: 'refused', isCurrent: false })
    expect(scene.errors).toMatchObject([
      {
        code: 'refused',
        message:
          'The flag server http://flags.test refuses the SDK key: 403: is the kind of the SDK key right?',
      },
    ])
    const before = scene.network.requests.length
    await scene.clock.advance(300_000)
    expect(scene.network.requests.length - before).toBeLessThan(3)
    expect(scene.errors).toHaveLength(1)
  })
})

describe('snapshot', () => {
  it('A snapshot is the bootstrap of a client with the same context, with visible flags only', async () => {
    await scene.publish(flagChange({ ...textFlag('title', 'secret'), clientVisible: false }))
    const local = scene.create()
    await untilCurrent(scene, local)
    const snapshot = local.snapshot({ key: 'user-1', kind: 'user' })
    expect(snapshot.flags).toMatchObject({ banner: 'hello' })
    expect(snapshot.flags).not.toHaveProperty('title')
    const { sdkKey } = scene.live
    const { clock, network } = scene
    const client = createFlagClient({
      ...{ url: 'http://flags.test', sdkKey, flags, clock },
      context: user,
      bootstrap: snapshot,
      fetch: network.fetch,
      transport: 'request',
    })
    expect(client.value('banner')).toBe('hello')
    expect(client.status).toMatchObject({ source: 'bootstrap', version: snapshot.version })
    await untilCurrent(scene, client)
    expect(client.snapshot()).toMatchObject(snapshot)
    client.close()
  })

  it('A snapshot without a flag set or with an invalid context has no flags', async () => {
    const local = scene.create()
    expect(local.snapshot(user)).toEqual({ flags: {} })
    await untilCurrent(scene, local)
    expect(local.snapshot({ key: 'no kind' } as never)).toEqual({ flags: {} })
  })
})

describe('sources', () => {
  it('The newest version of all sources is used', async () => {
    scene.network.isDown = true
    const local = scene.create({
      sources: [
        () => whole(5, textFlag('banner', 'first')),
        async () => whole(7, textFlag('banner', 'second')),
        () => whole(6, textFlag('banner', 'third')),
        'server',
      ],
    })
    await settle()
    expect(local.value('banner', user)).toBe('second')
    expect(local.status).toMatchObject({ source: 'bootstrap', version: 7, isCurrent: false })
    const ready = local.ready({ timeoutMs: 100 })
    await scene.clock.advance(100)
    expect(await ready).toBe('bootstrapped')
  })

  it('The version of the server counts even if it is lower than that of a file', async () => {
    const local = scene.create({ sources: ['server', () => whole(9, textFlag('banner', 'file'))] })
    await untilCurrent(scene, local)
    expect(local.value('banner', user)).toBe('hello')
    expect(local.status.version).toBe(1)
  })

  it('Functions are called again only while the server does not keep the flag set current', async () => {
    let calls = 0
    const source = () => {
      calls += 1
      return whole(calls + 10, textFlag('banner', `call ${calls}`))
    }
    scene.network.isDown = true
    const local = scene.create({ sources: [source, 'server'] })
    await scene.clock.advance(46_000)
    expect(local.value('banner', user)).toBe('call 2')
    scene.network.isDown = false
    await untilCurrent(scene, local)
    await scene.clock.advance(300_000)
    expect(calls).toBeLessThan(4)
    expect(local.value('banner', user)).toBe('hello')
  })

  it('Sources that throw, or that return something else, are reported', async () => {
    const local = scene.create({
      sources: [
        () => {
          throw new Error('a faulty source')
        },
        () => Promise.reject(new Error('a rejected source')),
        () => 'text',
        () => ({ ...whole(3, textFlag('banner', 'x')), root: 'wrong' }),
        () => ({ version: 4, flags: [null, 7], segments: [] }),
        () => whole(2, textFlag('banner', 'sound')),
      ],
    })
    expect(await local.ready()).toBe('bootstrapped')
    expect(local.value('banner', user)).toBe('sound')
    expect(scene.errors).toMatchObject([
      { message: 'a faulty source' },
      { message: 'a rejected source' },
      { message: 'A source must return `version`, `flags` and `segments`' },
      { message: expect.stringContaining('do not have the expected root') },
      { message: expect.stringContaining('cannot be compiled') },
    ])
    expect(local.status).toMatchObject({ connection: 'closed', failure: undefined })
  })
})

describe('cache', () => {
  it('The cached flag set is used at once, until the server responds', async () => {
    const cache = memoryCache()
    const first = scene.create({ cache })
    await untilCurrent(scene, first)
    await scene.clock.advance(1)
    await first.close()
    await set('banner', 'changed')
    const second = scene.create({ cache })
    expect(second.value('banner', user)).toBe('hello')
    expect(second.status).toMatchObject({ source: 'cache', version: 1 })
    expect(scene.network.requests.slice(-1)).toEqual(['socket'])
    await untilCurrent(scene, second)
    expect(second.value('banner', user)).toBe('changed')
    expect(scene.network.requests).not.toContain('GET /evaluator/flag-set?since=1')
    await second.close()
    const third = scene.create({ cache })
    expect(third.value('banner', user)).toBe('changed')
  })

  it('The cache of another key or URL, and a damaged text, are not used', async () => {
    const texts = new Map<string, string>()
    const cache = {
      get: (name: string) => texts.get(name),
      set: (name: string, text: string) => void texts.set(name, text),
      remove: (name: string) => void texts.delete(name),
    }
    const first = scene.create({ cache })
    await untilCurrent(scene, first)
    await scene.clock.advance(1)
    const [entry] = [...texts]
    if (entry === undefined) throw new Error('Nothing was cached')
    const [name, text] = entry
    scene.network.isDown = true
    const isUsed = (stored: string) => {
      texts.set(name, stored)
      return scene.create({ cache }).status.source === 'cache'
    }
    expect(isUsed(text)).toBe(true)
    expect(isUsed(text.slice(0, -1))).toBe(false)
    expect(isUsed(text.replace('hello', 'hallo'))).toBe(false)
    expect(isUsed(text.replace('"version":1', '"version":2'))).toBe(false)
    expect(isUsed('null')).toBe(false)
    const others = { get: () => text, set: () => {}, remove: () => {} }
    expect(scene.create({ cache: others, url: 'http://other.test' }).status.source).toBe('fallback')
    expect(scene.create({ cache: others, sdkKey: 'other' }).status.source).toBe('fallback')
  })

  it('A cache that throws or rejects is reported, and has no other effect', async () => {
    const fail = () => {
      throw new Error('the disk is full')
    }
    const local = scene.create({ cache: { get: fail, set: fail, remove: fail } })
    await untilCurrent(scene, local)
    await scene.clock.advance(1)
    expect(local.value('banner', user)).toBe('hello')
    const reject = async () => fail()
    const other = scene.create({ cache: { get: reject, set: reject, remove: reject } })
    await untilCurrent(scene, other)
    await scene.clock.advance(1)
    expect(scene.errors).toHaveLength(4)
    await other.close()
  })
})
