import { textHash } from '@ff/protocol/snapshot'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { FlagCache } from '../src/index.ts'
import { createFlagClient, memoryCache } from '../src/index.ts'
import { seededRandom, settle } from './fake-time.ts'
import { createScene, flags } from './scene.ts'

const MINUTE = 60_000

describe('the start', () => {
  it('Without a server, ready settles after its timeout, and the client keeps trying.', async () => {
    const { client, server, time, errors } = createScene({}, (each) => {
      each.state = 'down'
    })
    const ready = client.ready()
    await time.advance(4999)
    expect(await Promise.race([ready, settle().then(() => 'pending')])).toBe('pending')
    await time.advance(1)
    expect(await ready).toBe('fallbacks')
    expect(client.status).toMatchObject({ source: 'fallback', failure: 'unreachable' })
    server.state = 'up'
    const live = client.ready({ timeoutMs: MINUTE })
    await time.advance(MINUTE)
    expect(await live).toBe('live')
    expect(errors.map(String)).toEqual([
      'Error: The flag server http://flags.test is not available: cannot reach',
    ])
  })

  it('ready tells a bootstrap and the cache from live values.', async () => {
    const cache = memoryCache()
    const first = createScene({ cache })
    await first.time.advance(100)
    expect(await first.client.ready()).toBe('live')
    first.client.close()
    first.server.stop()
    const cached = first.another().ready({ timeoutMs: 0 })
    const { flags: known } = first.client.snapshot()
    const bootstrap = { flags: known, context: 'another' }
    const started = first.another({ bootstrap, context: { kind: 'user', key: 'u9' } }).ready()
    await first.time.advance(5000)
    expect(await Promise.all([cached, started])).toEqual(['cached', 'bootstrapped'])
  })

  it('A platform without transports settles as soon as it is used.', async () => {
    const nothing = { fetch: null, webSocket: null } as never
    const { client, time } = createScene({ transport: 'socket', ...(nothing as object) })
    const changed = client.setContext({ kind: 'user', key: 'u2' })
    await time.advance(5000)
    await changed
    expect(client.value('theme')).toBe('fallback')
    client.close()
  })
})

describe('connections that end', () => {
  it('After 100 flaps, 97 % of clients converge within five seconds, and the values remain.', async () => {
    const delays: number[] = []
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = seededRandom(seed)
      const { client, server, time } = createScene({ random })
      await time.advance(1000)
      server.maxOpen = 0
      for (let flap = 0; flap < 100; flap += 1) {
        await time.advance(200 + 4800 * random())
        server.stop(flap % 2 === 0 ? 1006 : 1001)
        await time.advance(200 + 4800 * random())
        server.version += 1
        server.state = 'up'
        expect(client.value('theme')).toBe('light')
      }
      const end = time.monotonicNow()
      while (client.status.version < server.version) await time.advance(100)
      delays.push(time.monotonicNow() - end)
      expect(client.status.isCurrent).toBe(true)
      expect(server.maxOpen).toBe(1)
      client.close()
    }
    // An outage of more than 16 seconds, for a client that missed all up phases, allows longer delays.
    expect(delays.filter((each) => each >= 5000).length).toBeLessThanOrEqual(9)
    expect(Math.max(...delays)).toBeLessThan(30_000)
  })

  it.each([1000, 1001, 1006, 1008, 1011, 1012, 1013, 1015, 4408, 4429])(
    'A client connects again after the close code %i.',
    async (code) => {
      const { client, server, time } = createScene()
      await time.advance(100)
      server.drop(code)
      expect(client.status).toMatchObject({ isCurrent: false, connection: 'waiting' })
      expect(client.value('theme')).toBe('light')
      await time.advance(2000)
      expect(client.status).toMatchObject({ isCurrent: true, connection: 'socket' })
    },
  )

  it('A connection that no longer answers ends within 45 seconds.', async () => {
    const { client, server, time } = createScene()
    await time.advance(100)
    server.state = 'blackhole'
    await time.advance(35_000)
    expect(client.status.isCurrent).toBe(false)
    await time.advance(25_000)
    expect(client.status.isCurrent).toBe(false)
    server.state = 'up'
    await time.advance(MINUTE)
    expect(client.status.isCurrent).toBe(true)
  })

  it('A silent connection stays open while the server answers pings.', async () => {
    const { client, server, time } = createScene()
    await time.advance(10 * MINUTE)
    expect(server.attempts).toHaveLength(1)
    expect(client.status.isCurrent).toBe(true)
    expect(server.messages.filter(({ type }) => type === 'ping').length).toBeGreaterThan(20)
  })
})

describe('refusals', () => {
  it.each([400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504])(
    'A client keeps trying while requests are answered with %i.',
    async (status) => {
      const { client, server, time, errors } = createScene({ transport: 'request' }, (each) => {
        each.script = () => ({ status, headers: { 'Retry-After': '7' }, body: {} })
      })
      await time.advance(20 * MINUTE)
      const gaps = server.attempts.map(
        ({ at }, index) => at - (server.attempts[index - 1]?.at ?? -Infinity),
      )
      const isSlow = [400, 401, 403, 413].includes(status)
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(isSlow ? 150_000 : 7050)
      expect(server.attempts.length).toBeGreaterThan(isSlow ? 3 : 30)
      expect(client.status.failure).toBe(
        isSlow ? (status === 401 || status === 403 ? 'refused' : 'invalidContext') : 'unreachable',
      )
      expect(errors).toHaveLength(1)
      server.script = () => undefined
      await time.advance(5 * MINUTE)
      expect(client.status).toMatchObject({ isCurrent: true, failure: undefined })
    },
  )

  it('The statuses are obeyed at a reconnect too, and the values remain.', async () => {
    const { client, server, time, errors } = createScene()
    await time.advance(100)
    server.socketScript = (socket) => {
      socket.emit({ type: 'error', error: 'The SDK key is revoked.', statusCode: 401 })
      socket.end(4401)
      return true
    }
    server.drop()
    await time.advance(2000)
    expect(client.status).toMatchObject({ failure: 'refused', source: 'server' })
    const attempts = server.attempts.length
    await time.advance(149_000)
    expect(server.attempts).toHaveLength(attempts)
    await time.advance(20 * MINUTE)
    expect(server.attempts.length).toBeGreaterThan(attempts + 2)
    expect(errors).toHaveLength(1)
    expect(client.value('theme')).toBe('light')
  })

  it('The retry hint of an error message is a minimum, and jitter follows it.', async () => {
    const { server, time } = createScene({}, (each) => {
      each.socketScript = (socket) => {
        socket.emit({ type: 'error', error: 'busy', statusCode: 429, retryAfter: 60 })
        socket.end(1013)
        return true
      }
    })
    await time.advance(60_000)
    expect(server.attempts).toHaveLength(1)
    await time.advance(1500)
    expect(server.attempts).toHaveLength(2)
  })

  it.each([[-1e9], [{ toString: false }], [[]], [null], ['soon']])(
    'The retry hint %j of an error message leaves the backoff as it is.',
    async (retryAfter) => {
      const { client, server, time } = createScene({ transport: 'socket' }, (each) => {
        each.socketScript = (socket) => {
          socket.emit({ type: 'error', error: 'busy', statusCode: 503, retryAfter })
          socket.end(1013)
          return true
        }
      })
      await time.advance(10_000)
      expect(server.attempts.length).toBeGreaterThan(2)
      expect(server.attempts.length).toBeLessThan(20)
      server.socketScript = () => false
      await time.advance(MINUTE)
      expect(client.status.isCurrent).toBe(true)
    },
  )

  it.each(['Infinity', '1e999', '-5', 'Wed, 21 Oct 2030 07:28:00 GMT', '', 'NaN'])(
    'The Retry-After header %j leaves the client able to try again.',
    async (value) => {
      const { client, server, time } = createScene({ transport: 'request' }, (each) => {
        each.script = () => ({ status: 503, headers: { 'Retry-After': value } })
      })
      await time.advance(100)
      server.script = () => undefined
      await time.advance(25 * 60 * MINUTE)
      expect(client.status.isCurrent).toBe(true)
    },
  )
})

describe('transports', () => {
  it('Two failures to open select long-poll, and the socket is tried after 5, 10 and 20 minutes.', async () => {
    const { client, server, time } = createScene({}, (each) => {
      each.hasSockets = false
    })
    await time.advance(10_000)
    expect(client.status).toMatchObject({ connection: 'long-poll', isCurrent: true })
    server.publish({ theme: 'dark' })
    await time.advance(20)
    expect(client.value('theme')).toBe('dark')
    for (let minute = 0; minute < 60; minute += 1) {
      await time.advance(MINUTE)
      server.publish({ limit: minute })
    }
    const climbs = server.attempts.filter(({ kind, at }) => kind === 'socket' && at > 10_000)
    const minutes = climbs.map(({ at }) => Math.round(at / MINUTE))
    // A poll that is pending ends before the attempt, which delays it by up to a minute.
    const starts = minutes.filter((at, index) => at - (minutes[index - 1] ?? -9) > 2)
    expect(starts).toHaveLength(3)
    expect(starts.map((at, index) => at - (starts[index - 1] ?? 0))).toEqual([5, 11, 21])
    server.hasSockets = true
    for (let minute = 0; minute < 45; minute += 1) {
      await time.advance(MINUTE)
      server.publish({ limit: -minute })
    }
    expect(client.status.connection).toBe('socket')
  })

  it('A platform without WebSocket uses long-poll at once.', async () => {
    vi.stubGlobal('WebSocket', undefined)
    onTestFinished(() => void vi.unstubAllGlobals())
    const { client, time, server } = createScene({ webSocket: undefined as never })
    await time.advance(100)
    expect(client.status.connection).toBe('long-poll')
    expect(server.attempts.map(({ kind }) => kind)).toEqual(['evaluate', 'poll'])
  })

  it('If polls fail but requests work, the client requests the values every 30 to 60 seconds.', async () => {
    const { client, server, time } = createScene({}, (each) => {
      each.hasSockets = false
      each.script = (kind) => (kind === 'poll' ? { status: 502 } : undefined)
    })
    await time.advance(MINUTE)
    expect(client.status).toMatchObject({ connection: 'request', isCurrent: true })
    const before = server.attempts.length
    await time.advance(4 * MINUTE)
    const at = server.attempts.slice(before).map((attempt) => attempt.at)
    for (const [index, each] of at.slice(1).entries()) {
      expect(each - (at[index] ?? 0)).toBeGreaterThanOrEqual(30_000)
      expect(each - (at[index] ?? 0)).toBeLessThan(60_100)
    }
    expect(server.requests.at(-1)?.headers['if-none-match']).toBeDefined()
  })

  it('A poll that is answered immediately is repeated at most twice a second.', async () => {
    const { server, time } = createScene({ transport: 'long-poll' })
    await time.advance(100)
    server.script = () => ({ status: 200, headers: { 'X-FF-Version': '1' }, body: {} })
    server.publish({})
    const before = server.attempts.length
    await time.advance(10_000)
    expect(server.attempts.length - before).toBeLessThanOrEqual(21)
  })
})

describe('versions and messages', () => {
  it('An older version is ignored, unless the message says that the store was restored.', async () => {
    const { client, server, time } = createScene({}, (each) => {
      each.version = 9
    })
    await time.advance(100)
    const [socket] = server.sockets
    socket?.emit({ type: 'flags', flags: { theme: 'dark' }, version: 8, full: false })
    expect(client.value('theme')).toBe('light')
    expect(client.status.version).toBe(9)
    server.version = 4
    server.values = { theme: 'red' }
    server.drop()
    await time.advance(10_000)
    expect(client.value('theme')).toBe('light')
    server.restoredFrom = 9
    await time.advance(MINUTE)
    expect(client.value('theme')).toBe('red')
    expect(client.status.version).toBe(4)
  })

  it.each(['socket', 'long-poll', 'request'] as const)(
    'Over %s, the refusal of a context does not affect the context after it.',
    async (transport) => {
      const { client, server, time } = createScene({ transport })
      await time.advance(MINUTE)
      let isRefused = true
      server.script = () => {
        const refusal = isRefused ? { status: 400 } : undefined
        isRefused = false
        return refusal
      }
      void client.setContext({ kind: 'user', key: 'refused' })
      await time.advance(1)
      void client.setContext({ kind: 'user', key: 'accepted' })
      await time.advance(20_000)
      expect(client.status).toMatchObject({ isCurrent: true, failure: undefined })
    },
  )

  it.each(['long-poll', 'request'] as const)(
    'After a restore, a client over %s accepts the lower version also for another context.',
    async (transport) => {
      const { client, server, time } = createScene({ transport }, (each) => {
        each.version = 9
      })
      await time.advance(100)
      server.version = 4
      server.restoredFrom = 9
      server.values = { theme: 'red' }
      void client.setContext({ kind: 'user', key: 'another' })
      await time.advance(2 * MINUTE)
      expect(client.status).toMatchObject({ version: 4, isCurrent: true })
      expect(client.value('theme')).toBe('red')
    },
  )

  it.each(['socket', 'request'] as const)(
    'After malformed content over %s, the client requests the values again.',
    async (transport) => {
      const bad = ['', '{', '[]', '7', 'null', '{"a":1', '['.repeat(100_000)]
      const { client, server, time } = createScene({ transport }, (each) => {
        each.socketScript = (socket) => {
          const text = bad.pop()
          if (text !== undefined) socket.emit(text)
          return text !== undefined
        }
        each.script = () => {
          const body = bad.pop()
          return body === undefined
            ? undefined
            : { status: 200, headers: { 'X-FF-Version': '3' }, body: body === '' ? '{' : body }
        }
      })
      await time.advance(5 * MINUTE)
      expect(client.status).toMatchObject({ isCurrent: true, version: 1 })
      expect(server.attempts.length).toBeGreaterThan(7)
    },
  )

  it.each(['[]', '7', 'null', '"flags"', '{'])(
    'A message that is not a JSON object, %j, ends the socket.',
    async (text) => {
      const { client, server, time } = createScene({ transport: 'socket' })
      await time.advance(100)
      const [socket] = server.sockets
      expect(client.status.isCurrent).toBe(true)
      socket?.emit(text)
      expect(client.status.isCurrent).toBe(false)
      await time.advance(MINUTE)
      expect(client.status.isCurrent).toBe(true)
    },
  )

  it.each(['{"toString":1}', '{"valueOf":1,"toString":null}', '[[]]', '"401"', 'true', 'null'])(
    'An error message with the status %s does not stop the client.',
    async (statusCode) => {
      const { client, server, time } = createScene()
      await time.advance(100)
      const [socket] = server.sockets
      socket?.emit(`{"type":"error","error":"broken","statusCode":${statusCode}}`)
      socket?.end(1011)
      await time.advance(MINUTE)
      expect(client.status).toMatchObject({ isCurrent: true, connection: 'socket' })
    },
  )

  it('Unknown messages are ignored, and answers to other requests are dropped.', async () => {
    const { client, server, time } = createScene()
    await time.advance(100)
    const [socket] = server.sockets
    const full = { type: 'flags', version: 5, full: true }
    socket?.emit({ type: 'later', flags: {} })
    socket?.emit({ ...full, flags: { theme: 'red' }, id: 77 })
    expect(client.value('theme')).toBe('light')
    void client.setContext({ kind: 'user', key: 'u2' })
    socket?.emit({ ...full, flags: { theme: 'red', whoami: 'u1' } })
    socket?.emit({ ...full, full: false, flags: { theme: 'red' } })
    expect(client.value('theme')).toBe('light')
    await time.advance(20)
    expect(client.value('whoami')).toBe('u2')
    expect(server.attempts).toHaveLength(1)
  })

  it('A value that is nested too deeply is refused, and the other values are used.', async () => {
    const { client, server, time, errors } = createScene()
    await time.advance(100)
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const [socket] = server.sockets
    socket?.emit(
      `{"type":"flags","version":2,"full":false,"flags":{"layout":${deep},"theme":"dark"}}`,
    )
    expect(client.value('theme')).toBe('dark')
    expect(client.detail('layout').errorCode).toBe('TYPE_MISMATCH')
    expect(errors).toHaveLength(1)
  })

  it('A listener that throws loses no update of other listeners.', async () => {
    const { client, server, time, errors } = createScene()
    await time.advance(100)
    const seen: string[] = []
    for (let each = 0; each < 3; each += 1) {
      client.subscribe('theme', (theme) => {
        seen.push(theme)
        throw new Error('broken')
      })
    }
    server.publish({ theme: 'dark' })
    server.publish({ theme: 'red' })
    expect(seen).toEqual(['dark', 'dark', 'dark', 'red', 'red', 'red'])
    expect(errors).toHaveLength(6)
  })
})

describe('close', () => {
  it.each(['auto', 'socket', 'long-poll', 'request'] as const)(
    'Closing a client with the transport %s at any time leaves nothing behind.',
    async (transport) => {
      for (let at = 0; at < 40; at += 1) {
        const scene = createScene({ transport, cache: memoryCache() })
        const { client, server, time, page } = scene
        if (at % 4 === 1) server.stop()
        if (at % 4 === 2) server.hasSockets = false
        await time.advance(at * 1.5)
        if (at % 5 === 0) void client.setContext({ kind: 'user', key: 'u2' })
        const ready = client.ready()
        for (let turn = 0; turn < at % 7; turn += 1) await Promise.resolve()
        client.close()
        client.close()
        await ready
        await Promise.all([client.setContext({}), client.reset({}), client.ready()])
        expect(scene.timers).toBe(0)
        expect(server.open).toBe(0)
        expect(page.listeners.size).toBe(0)
        const attempts = server.attempts.length
        const before = client.value('theme')
        page.set({ offline: true })
        await time.advance(10 * MINUTE)
        expect(server.attempts).toHaveLength(attempts)
        expect(client.value('theme')).toBe(before)
        expect(client.status.connection).toBe('closed')
      }
    },
  )

  it('A listener can close its client.', async () => {
    const scene = createScene({ cache: memoryCache() })
    scene.client.subscribe('theme', () => scene.client.close())
    await scene.time.advance(MINUTE)
    expect(scene.client.value('theme')).toBe('light')
    expect([scene.timers, scene.server.open]).toEqual([0, 0])
  })

  it('1,000 clients that are created and closed leave no timer and no socket.', async () => {
    const scene = createScene()
    scene.client.close()
    for (let each = 0; each < 1000; each += 1) {
      const client = scene.another()
      if (each % 2 === 0) await scene.time.advance(10)
      client.close()
    }
    await scene.time.advance(MINUTE)
    expect([scene.time.timers, scene.server.open]).toEqual([0, 0])
  })
})

describe('clocks', () => {
  it('A system clock that is wrong by a day affects neither backoff nor the cache.', async () => {
    for (const skew of [-86_400_000, 86_400_000]) {
      const { client, server, time, another } = createScene({ cache: memoryCache() })
      await time.advance(2000)
      server.stop()
      time.skew(skew)
      await time.advance(10_000)
      const attempts = server.attempts.length
      expect(attempts).toBeGreaterThan(3)
      expect(attempts).toBeLessThan(20)
      expect(another().status.source).toBe('cache')
      client.close()
    }
  })
})

describe('pages', () => {
  it('A hidden page closes its socket after two minutes, and requests values on return.', async () => {
    const { client, server, time, page } = createScene()
    await time.advance(100)
    page.set({ hidden: true })
    await time.advance(119_000)
    expect(server.sockets.size).toBe(1)
    await time.advance(1000)
    expect([server.sockets.size, client.status.connection]).toEqual([0, 'hidden'])
    server.publish({ theme: 'dark' })
    await time.advance(60 * MINUTE)
    expect(server.attempts).toHaveLength(1)
    page.set({ hidden: false })
    await time.advance(100)
    expect(server.attempts.map(({ kind }) => kind)).toEqual(['socket', 'evaluate', 'socket'])
    expect(client.value('theme')).toBe('dark')
    expect(client.status.connection).toBe('socket')
  })

  it('A page that is hidden briefly keeps its socket.', async () => {
    const { server, time, page } = createScene()
    for (let each = 0; each < 10; each += 1) {
      page.set({ hidden: true })
      await time.advance(100_000)
      page.set({ hidden: false })
      await time.advance(1000)
    }
    expect(server.attempts).toHaveLength(1)
  })

  it('An offline platform makes no attempts, and an online one makes one with jitter.', async () => {
    const { client, server, time, page } = createScene()
    await time.advance(100)
    page.set({ offline: true })
    expect(client.status).toMatchObject({ connection: 'offline', isCurrent: false })
    await client.setContext({ kind: 'user', key: 'u2' })
    await time.advance(60 * MINUTE)
    expect(server.attempts).toHaveLength(1)
    page.set({ offline: false })
    const at = time.monotonicNow()
    await time.advance(1200)
    expect(server.attempts.length).toBeGreaterThan(1)
    expect((server.attempts[1]?.at ?? 0) - at).toBeGreaterThanOrEqual(50)
    expect(client.value('whoami')).toBe('u2')
  })
})

describe('storage', () => {
  const broken = (): never => {
    throw new Error('denied')
  }

  it.each<[string, FlagCache]>([
    ['throws', { get: broken, set: broken, remove: broken }],
    [
      'rejects',
      { get: async () => broken(), set: async () => broken(), remove: async () => broken() },
    ],
    [
      'never responds',
      { get: () => new Promise(() => {}), set: () => new Promise(() => {}), remove: () => 0 },
    ],
    ['returns other values', { get: () => 7, set: () => ({}), remove: () => [] }],
  ])(
    'A store that %s is an empty store, and a failed write is reported once.',
    async (how, cache) => {
      const { client, server, time, errors } = createScene({ cache })
      for (let change = 0; change < 5; change += 1) {
        await time.advance(5000)
        server.publish({ limit: change })
      }
      expect(client.value('theme')).toBe('light')
      client.close()
      await settle()
      expect(errors.map(String)).toEqual(/throws|rejects/.test(how) ? ['Error: denied'] : [])
    },
  )

  it('An entry that was not written completely is removed and not used.', async () => {
    const texts = new Map<string, string>()
    const cache: FlagCache = {
      get: (name) => texts.get(name),
      set: (name, text) => texts.set(name, text),
      remove: (name) => texts.delete(name),
    }
    const { client, time, server, another } = createScene({ cache })
    await time.advance(2000)
    client.close()
    await settle()
    server.stop()
    const [[name = '', whole = ''] = []] = [...texts].filter(([, text]) => text.includes('theme'))
    for (let length = 0; length < whole.length; length += 7) {
      texts.set(name, whole.slice(0, length))
      expect(another().status.source).toBe('fallback')
      expect(texts.get(name) || undefined).toBe(undefined)
    }
    texts.set(name, whole.replace('light', 'dark'))
    expect(another().value('theme')).toBe('fallback')
    texts.set(name, whole)
    expect(another().value('theme')).toBe('light')
  })

  it.each([
    {},
    [],
    { flags: { theme: 'dark' }, time: 9e15 },
    { flags: { theme: 'dark' }, version: '1', time: 9e15 },
    { flags: ['dark'], version: 1, time: 9e15 },
  ])('An entry of another shape, %j, is removed and not used.', async (values) => {
    const cache = memoryCache() as FlagCache & Map<string, string>
    const { client, time, server, another } = createScene({ cache })
    await time.advance(2000)
    client.close()
    await settle()
    server.stop()
    const [[name = ''] = []] = [...cache].filter(([, text]) => text.includes('theme'))
    cache.set(name, JSON.stringify([textHash(JSON.stringify(values)), values]))
    expect(another().status).toMatchObject({ source: 'fallback', version: 0 })
    expect(cache.has(name)).toBe(false)
  })

  it('The cache keeps five contexts for 30 days, and is written at most once a second.', async () => {
    const writes: number[] = []
    const texts = memoryCache()
    const scene = { time: { monotonicNow: () => 0 } }
    const cache: FlagCache = {
      ...texts,
      get: async (name) => texts.get(name),
      set(name, text) {
        if (text.includes('theme')) writes.push(scene.time.monotonicNow())
        return texts.set(name, text)
      },
      remove: async (name) => texts.remove(name),
    }
    const { client, server, time, another } = Object.assign(scene, createScene({ cache }))
    for (let key = 1; key <= 7; key += 1) {
      void client.setContext({ kind: 'user', key: `c${key}` })
      for (let each = 0; each < 20; each += 1) {
        await time.advance(100)
        server.publish({ limit: each })
      }
    }
    for (const [index, at] of writes.slice(1).entries()) {
      expect(at - (writes[index] ?? 0)).toBeGreaterThanOrEqual(1000)
    }
    client.close()
    await settle()
    server.stop()
    const sources = []
    for (let key = 1; key <= 7; key += 1) {
      const each = another({ context: { kind: 'user', key: `c${key}` } })
      await settle()
      sources.push(each.status.source)
      each.close()
    }
    expect(sources).toEqual(['fallback', 'fallback', 'cache', 'cache', 'cache', 'cache', 'cache'])
    time.skew(31 * 24 * 60 * MINUTE)
    const late = another({ context: { kind: 'user', key: 'c7' } })
    await settle()
    expect(late.status.source).toBe('fallback')
  })
})

describe('createFlagClient', () => {
  it('createFlagClient accepts the platform of this process.', () => {
    const client = createFlagClient({ url: 'http://127.0.0.1:1', sdkKey: 'ff_1', flags })
    expect(client.value('theme')).toBe('fallback')
    client.close()
  })
})
