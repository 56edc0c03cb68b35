import { describe, expect, it, vi } from 'vitest'
import { memoryCache } from '../src/index.ts'
import { createScene } from './scene.ts'

describe('values', () => {
  it('A client returns fallbacks, then the values of the server, then each change.', async () => {
    const { client, server, time } = createScene()
    expect(client.value('theme')).toBe('fallback')
    expect(client.detail('theme')).toEqual({
      ...{ value: 'fallback', source: 'fallback', version: 0 },
      ...{ reason: 'ERROR', errorCode: 'PROVIDER_NOT_READY' },
    })
    await time.advance(100)
    expect(client.value('theme')).toBe('light')
    expect(client.detail('whoami')).toEqual({ value: 'u1', source: 'server', version: 1 })
    expect(client.status).toMatchObject({ connection: 'socket', isCurrent: true, version: 1 })
    server.publish({ theme: 'dark' })
    expect(client.value('theme')).toBe('dark')
    expect(client.value('new-checkout')).toBe(true)
    expect(client.status.version).toBe(2)
    client.close()
  })

  it('A removed flag and a value of another type leave the last known value unchanged.', async () => {
    const { client, server, time } = createScene()
    await time.advance(100)
    server.publish({ 'new-checkout': 'yes' }, ['theme'])
    expect(client.detail('theme')).toMatchObject({ value: 'light', errorCode: 'FLAG_NOT_FOUND' })
    expect(client.detail('new-checkout')).toMatchObject({ value: true, errorCode: 'TYPE_MISMATCH' })
    expect(client.detail('limit')).toMatchObject({ value: -1, errorCode: 'FLAG_NOT_FOUND' })
    expect(client.value('limit', 7)).toBe(7)
    expect(client.snapshot().flags).toEqual({ 'new-checkout': true, whoami: 'u1' })
  })

  it('Listeners are called once for each change of their flag, after all values are set.', async () => {
    const { client, server, time, errors } = createScene()
    const seen: unknown[] = []
    client.subscribe('theme', () => {
      throw new Error('broken listener')
    })
    client.subscribe('theme', (theme) => seen.push([theme, client.value('limit')]))
    const stop = client.subscribe('limit', (limit) => seen.push(limit))
    await time.advance(100)
    server.publish({ theme: 'dark', limit: 5 })
    server.publish({ 'new-checkout': false })
    stop()
    stop()
    server.publish({ limit: 6 })
    expect(seen).toEqual([['light', -1], ['dark', 5], 5])
    expect(errors).toHaveLength(2)
  })

  it('A listener that changes the context again leaves no listener with an old value.', async () => {
    const { client, time } = createScene()
    const seen: string[] = []
    client.subscribe('whoami', (key) => {
      if (key === 'u1') void client.reset({ kind: 'user', key: 'u2' })
    })
    client.subscribe('whoami', (key) => seen.push(key))
    await time.advance(200)
    expect(client.value('whoami')).toBe('u2')
    expect(seen).toEqual(['nobody', 'u2'])
  })

  it('A value that equals the last value as JSON keeps its identity.', async () => {
    const { client, server, time } = createScene({}, (each) => {
      each.values = { layout: { columns: 3 } }
    })
    await time.advance(100)
    const first = client.value('layout')
    const listener = vi.fn()
    client.subscribe('layout', listener)
    server.publish({ layout: { columns: 3 } })
    server.drop()
    await time.advance(5000)
    void client.setContext({ kind: 'user', key: 'u2' })
    await time.advance(100)
    expect(client.value('whoami')).toBe('u2')
    expect(client.value('layout')).toBe(first)
    expect(listener).not.toHaveBeenCalled()
  })

  it('A frozen client keeps its values until unfreeze, and then calls listeners.', async () => {
    const { client, server, time } = createScene()
    await time.advance(100)
    const listener = vi.fn()
    client.subscribe('theme', listener)
    client.freeze()
    server.publish({ theme: 'dark' })
    expect(client.value('theme')).toBe('light')
    expect(client.status).toMatchObject({ isCurrent: false, version: 1 })
    client.unfreeze()
    expect(listener.mock.calls).toEqual([['dark']])
    expect(client.status).toMatchObject({ isCurrent: true, version: 2 })
  })

  it('The query of the option overrides replaces values of the right type.', async () => {
    const overrides = '?a=1&ff.theme=dark&ff.limit=x&ff.new-checkout=false&ff.whoami=%E0%A4&ff.no=1'
    const { client, time } = createScene({ overrides })
    await time.advance(100)
    expect(client.detail('theme')).toEqual({ value: 'dark', source: 'override', version: 1 })
    expect(client.value('limit')).toBe(-1)
    expect(client.value('new-checkout')).toBe(false)
    expect(client.value('whoami')).toBe('\uFFFD')
  })

  it('A snapshot of the same context is a bootstrap with its version.', async () => {
    const first = createScene()
    await first.time.advance(100)
    const bootstrap = JSON.parse(JSON.stringify(first.client.snapshot()))
    const { client, server, time } = createScene({ bootstrap }, (each) => {
      each.version = 7
    })
    expect(client.value('theme')).toBe('light')
    expect(client.status).toMatchObject({ source: 'bootstrap', version: 1, isCurrent: false })
    await time.advance(100)
    expect(server.messages[0]).toMatchObject({ type: 'init', since: 1 })
    const other = first.another({ bootstrap, context: { kind: 'user', key: 'u2' } })
    expect(other.status).toMatchObject({ source: 'bootstrap', version: 0 })
    expect(other.value('theme')).toBe('light')
  })

  it('A snapshot with unusual keys becomes the same values again.', async () => {
    const { client, time } = createScene({}, (each) => {
      each.values = JSON.parse('{"__proto__":1,"constructor":2,"theme":"dark"}')
    })
    await time.advance(100)
    const anyKey = client as unknown as { value(key: string): unknown }
    expect(anyKey.value('__proto__')).toBe(1)
    expect(anyKey.value('constructor')).toBe(2)
    expect(anyKey.value('toString')).toBe(undefined)
    expect(JSON.stringify(client.snapshot().flags)).toContain('"__proto__":1')
  })
})

describe('contexts', () => {
  it('A new context keeps the old values until the new values arrive.', async () => {
    const { client, server, time } = createScene()
    await time.advance(100)
    const changed = client.setContext({ kind: 'user', key: 'u2' })
    expect(client.value('whoami')).toBe('u1')
    expect(client.status.isCurrent).toBe(false)
    server.publish({ theme: 'red' })
    expect(client.value('theme')).toBe('light')
    await time.advance(20)
    await changed
    expect(client.value('whoami')).toBe('u2')
    expect(client.value('theme')).toBe('red')
    expect(client.status.isCurrent).toBe(true)
  })

  it('A reset removes the values of the previous context immediately.', async () => {
    const { client, time } = createScene()
    await time.advance(100)
    const listener = vi.fn()
    client.subscribe('whoami', listener)
    client.freeze()
    const changed = client.reset({ kind: 'user', key: 'u2' })
    expect(client.value('whoami')).toBe('nobody')
    expect(client.status).toMatchObject({ source: 'fallback', version: 0 })
    await time.advance(20)
    await changed
    expect(client.value('whoami')).toBe('u2')
    expect(listener.mock.calls).toEqual([['nobody'], ['u2']])
  })

  it.each(['socket', 'long-poll', 'request'] as const)(
    '1,000 changes of the context over %s cause few messages, and the last one wins.',
    async (transport) => {
      const { client, server, time } = createScene({ transport })
      await time.advance(100)
      const [messages, attempts] = [server.messages.length, server.attempts.length]
      server.maxOpen = 0
      const settled: Promise<void>[] = []
      for (let key = 1; key <= 1000; key += 1) {
        settled.push(client.setContext({ kind: 'user', key: `c${key}` }))
        if (key % 100 === 0) await time.advance(1)
        expect([
          'u1',
          'c1',
          'c1000',
          ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `c${n}00`),
        ]).toContain(client.value('whoami'))
      }
      await time.advance(100)
      await Promise.all(settled)
      expect(client.value('whoami')).toBe('c1000')
      expect(client.status.isCurrent).toBe(true)
      expect(server.messages.length - messages + server.attempts.length - attempts).toBeLessThan(10)
      expect(server.maxOpen).toBeLessThanOrEqual(1)
    },
  )

  it('A change of the context while the server is away settles, and is used later.', async () => {
    const { client, server, time } = createScene()
    await time.advance(100)
    server.stop()
    await time.advance(100)
    await client.setContext({ kind: 'user', key: 'u2' })
    expect(client.value('whoami')).toBe('u1')
    server.state = 'up'
    await time.advance(10_000)
    expect(client.value('whoami')).toBe('u2')
  })

  it('An invalid context leaves the values, and a valid one clears the error.', async () => {
    const { client, time } = createScene()
    await time.advance(100)
    const cyclic: Record<string, unknown> = { kind: 'user' }
    cyclic['self'] = cyclic
    for (const wrong of [null, undefined, 7, 'user', [], { key: 'u1' }, cyclic, { kind: 1n }]) {
      await client.setContext(wrong as never)
      expect(client.detail('whoami')).toMatchObject({ value: 'u1', errorCode: 'INVALID_CONTEXT' })
    }
    await client.setContext({ key: 'u1', kind: 'user' })
    expect(client.detail('whoami')).toEqual({ value: 'u1', source: 'server', version: 1 })
  })

  it('A context that the server refuses is reported once and tried again with another one.', async () => {
    const refused = { status: 400, body: { error: 'no', statusCode: 400 } }
    const { client, server, time, errors } = createScene({}, (each) => {
      each.script = () => refused
      each.socketScript = (socket) => {
        socket.emit({ type: 'error', error: 'no', statusCode: 400 })
        socket.end(4400)
        return true
      }
    })
    await time.advance(600_000)
    expect(client.status.failure).toBe('invalidContext')
    expect(client.detail('theme').errorCode).toBe('INVALID_CONTEXT')
    expect(errors).toHaveLength(1)
    expect(server.attempts.length).toBeLessThan(30)
    server.script = () => undefined
    server.socketScript = () => false
    const changed = client.setContext({ kind: 'user', key: 'u2' })
    await time.advance(20)
    await changed
    expect(client.detail('whoami')).toEqual({ value: 'u2', source: 'server', version: 1 })
  })
})

describe('the cache', () => {
  it('The values of a context are available at the next start, before the network.', async () => {
    const cache = memoryCache()
    const { client, time, server, another } = createScene({ cache })
    await time.advance(100)
    client.close()
    server.stop()
    const again = another()
    expect(again.value('theme')).toBe('light')
    expect(again.status).toMatchObject({ source: 'cache', version: 1, isCurrent: false })
    expect(another({ context: { kind: 'user', key: 'u2' } }).value('theme')).toBe('fallback')
    expect(another({ sdkKey: 'ff_2' }).value('theme')).toBe('fallback')
    expect(another({ url: 'http://other.test' }).value('theme')).toBe('fallback')
  })
})
