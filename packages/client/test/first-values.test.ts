import { describe, expect, it } from 'vitest'
import { memoryCache } from '../src/index.ts'
import { createScene } from './scene.ts'

const MINUTE = 60_000

describe('the first values', () => {
  it('A start that works makes one call.', async () => {
    const { client, server, time } = createScene()
    await time.advance(MINUTE)
    expect(server.attempts.map(({ kind }) => kind)).toEqual(['socket'])
    expect(client.status).toMatchObject({ isCurrent: true, connection: 'socket' })
  })

  it.each(['upgrades', 'messages'])(
    'If a proxy swallows %s, the first values arrive within a second, and changes arrive by long-poll.',
    async (swallowed) => {
      const { client, server, time, errors } = createScene({}, (each) => {
        if (swallowed === 'upgrades') each.swallowsSockets = true
        else each.socketScript = () => true
      })
      const ready = client.ready()
      await time.advance(450)
      expect(await ready).toBe('live')
      expect(client.value('theme')).toBe('light')
      await time.advance(25_000)
      expect(client.status).toMatchObject({ isCurrent: true, connection: 'long-poll' })
      server.publish({ theme: 'dark' })
      await time.advance(50)
      expect(client.value('theme')).toBe('dark')
      expect(errors.map(String)).toEqual([
        'Error: The flag server http://flags.test is not available: no response within 10 s',
      ])
    },
  )

  it('If a proxy refuses upgrades, the first values arrive immediately.', async () => {
    const { client, server, time } = createScene({}, (each) => {
      each.hasSockets = false
    })
    await time.advance(50)
    expect(client.value('theme')).toBe('light')
    expect(server.attempts.slice(0, 2).map(({ kind }) => kind)).toEqual(['socket', 'evaluate'])
  })

  it('A client with values of its context waits for the socket.', async () => {
    const cache = memoryCache()
    const first = createScene({ cache })
    await first.time.advance(2000)
    first.server.swallowsSockets = true
    const later = first.another()
    const before = first.server.attempts.length
    await first.time.advance(9000)
    expect(later.status).toMatchObject({ source: 'cache', isOfContext: true })
    expect(first.server.attempts.length - before).toBe(1)
  })

  it('A context that is set while a socket is swallowed has its values within a second.', async () => {
    const { client, server, time } = createScene({}, (each) => {
      each.swallowsSockets = true
    })
    for (const [at, key] of [
      [100, 'early'],
      [402, 'meanwhile'],
      [3000, 'later'],
    ] as const) {
      await time.advance(at)
      const changed = client.setContext({ kind: 'user', key })
      await time.advance(450)
      await changed
      expect(client.detail('whoami')).toMatchObject({ value: key, source: 'server' })
    }
    expect(server.maxOpen).toBeLessThanOrEqual(2)
  })

  it('A slow socket replaces the request beside it.', async () => {
    const { client, server, time } = createScene({}, (each) => {
      each.swallowsSockets = true
    })
    await time.advance(420)
    expect(server.attempts.map(({ kind }) => kind)).toEqual(['socket', 'evaluate'])
    for (const socket of server.sockets) socket.open()
    await time.advance(50)
    expect(client.status).toMatchObject({ isCurrent: true, connection: 'socket' })
    server.publish({ theme: 'dark' })
    await time.advance(MINUTE)
    expect(client.value('theme')).toBe('dark')
    expect(server.attempts).toHaveLength(2)
  })

  it('If requests do not work, a slow socket is not interrupted.', async () => {
    const { client, server, time } = createScene({}, (each) => {
      each.swallowsSockets = true
      each.script = () => ({ status: 502, body: '' })
    })
    await time.advance(5000)
    for (const socket of server.sockets) socket.open()
    await time.advance(50)
    expect(client.status).toMatchObject({ isCurrent: true, connection: 'socket' })
    expect(client.value('theme')).toBe('light')
  })

  it('A client that is closed leaves no request beside its socket.', async () => {
    const scene = createScene({}, (each) => {
      each.swallowsSockets = true
    })
    await scene.time.advance(402)
    scene.client.close()
    await scene.time.advance(MINUTE)
    expect([scene.server.open, scene.timers]).toEqual([0, 0])
  })
})

describe('polls that end immediately', () => {
  it.each(['304', '200'])(
    'If a proxy answers each poll immediately with %s, the client polls more and more rarely.',
    async (status) => {
      const { client, server, time } = createScene({ transport: 'long-poll' }, (each) => {
        if (status === '200') each.changesTags = true
        else
          each.script = (kind) =>
            kind === 'poll'
              ? { status: 304, headers: { 'X-FF-Version': `${each.version}` } }
              : undefined
      })
      await time.advance(MINUTE)
      expect(server.attempts.length).toBeLessThanOrEqual(8)
      const before = server.attempts.length
      await time.advance(10 * MINUTE)
      expect(server.attempts.length - before).toBeLessThanOrEqual(12)
      expect(client.status.isCurrent).toBe(true)
      server.changesTags = false
      server.script = () => undefined
      server.publish({ theme: 'dark' })
      await time.advance(MINUTE)
      expect(client.value('theme')).toBe('dark')
      server.publish({ theme: 'red' })
      await time.advance(600)
      expect(client.value('theme')).toBe('red')
    },
  )

  it('A change arrives within a minute through a proxy that answers each poll immediately.', async () => {
    const { client, server, time } = createScene({ transport: 'long-poll' }, (each) => {
      each.changesTags = true
    })
    await time.advance(10 * MINUTE)
    server.publish({ theme: 'dark' })
    await time.advance(MINUTE)
    expect(client.value('theme')).toBe('dark')
  })

  it('Frequent changes do not slow down polls.', async () => {
    const { client, server, time } = createScene({ transport: 'long-poll' })
    for (let change = 0; change < 200; change += 1) {
      server.publish({ limit: change })
      await time.advance(600)
      expect(client.value('limit')).toBe(change)
    }
  })

  it('A new context is requested immediately between rare polls.', async () => {
    const { client, server, time } = createScene({ transport: 'long-poll' }, (each) => {
      each.changesTags = true
    })
    await time.advance(10 * MINUTE)
    const before = server.attempts.length
    const changed = client.setContext({ kind: 'user', key: 'u2' })
    await time.advance(20)
    await changed
    expect(client.value('whoami')).toBe('u2')
    await time.advance(MINUTE)
    expect(server.attempts.length - before).toBeLessThanOrEqual(2)
  })
})
