import { afterEach, describe, expect, it, vi } from 'vitest'
import { flagChange, textFlag } from '../../server/test/seed.ts'
import { createTestClient } from '../src/testing.ts'
import { createLocalScene, untilCurrent } from './local/local-scene.ts'
import { CONTEXT, createScene, flags } from './scene.ts'

describe('`connect: false`', () => {
  it('A client is idle, without timers, listeners, sockets and requests, until it connects.', async () => {
    const bootstrap = { flags: { theme: 'dark' } }
    const scene = createScene({ connect: false, bootstrap })
    const { client, server, page, time } = scene
    expect(client.status).toMatchObject({ source: 'bootstrap', connection: 'idle' })
    expect([scene.timers, page.listeners.size]).toEqual([0, 0])
    await time.advance(600_000)
    expect([server.sockets.size, server.requests.length]).toEqual([0, 0])
    client.connect()
    client.connect()
    expect(client.status.connection).toBe('waiting')
    await time.advance(100)
    expect(client.status).toMatchObject({ source: 'server', connection: 'socket' })
    expect([server.sockets.size, page.listeners.size]).toEqual([1, 1])
    client.close()
  })

  it('`ready` waits until an idle client has connected, or for its timeout.', async () => {
    const { client, time } = createScene({ connect: false })
    const [ready, limited] = [client.ready({ timeoutMs: 60_000 }), client.ready({ timeoutMs: 10 })]
    let isReady = false
    void ready.then(() => {
      isReady = true
    })
    await time.advance(30_000)
    expect([isReady, await limited]).toEqual([false, 'fallbacks'])
    client.connect()
    await time.advance(100)
    expect(await ready).toBe('live')
    client.close()
  })

  it('An idle client follows a change of its context, and then connects with it.', async () => {
    const { client, server, time } = createScene({ connect: false })
    await client.setContext({ kind: 'user', key: 'u2' })
    expect(server.requests).toHaveLength(0)
    client.connect()
    await time.advance(100)
    expect(client.value('whoami')).toBe('u2')
    client.close()
  })

  it('A client that is offline when it connects waits for the network.', async () => {
    const { client, server, page, time } = createScene({ connect: false })
    page.set({ offline: true })
    client.connect()
    await time.advance(60_000)
    expect([client.status.connection, server.sockets.size]).toEqual(['offline', 0])
    page.set({ offline: false })
    await time.advance(5000)
    expect(client.status.connection).toBe('socket')
    client.close()
  })
})

describe('`connect` after `close`', () => {
  it('A closed client connects again, follows changes, and leaves nothing after the next close.', async () => {
    const scene = createScene()
    const { client, server, page, time } = scene
    await time.advance(100)
    const seen: unknown[] = []
    client.subscribe('theme', (theme) => seen.push(theme))
    client.close()
    server.publish({ theme: 'dark' })
    await time.advance(60_000)
    expect([client.value('theme'), server.sockets.size]).toEqual(['light', 0])
    client.connect()
    await time.advance(100)
    server.publish({ theme: 'red' })
    expect(seen).toEqual(['dark', 'red'])
    expect(client.status).toMatchObject({ connection: 'socket', isCurrent: true })
    client.close()
    await time.advance(100)
    expect([scene.timers, page.listeners.size, server.sockets.size]).toEqual([0, 0, 0])
  })

  it('connect, close and connect in one turn open one socket.', async () => {
    const { client, server, time } = createScene({ connect: false })
    client.connect()
    client.close()
    client.connect()
    await time.advance(5000)
    expect(server.attempts.map(({ kind }) => kind)).toEqual(['socket'])
    expect(server.sockets.size).toBe(1)
    client.close()
  })

  it('100 cycles of connect and close leave no timer, no listener and no socket.', async () => {
    const scene = createScene({ connect: false })
    const { client, server, page, time } = scene
    for (let cycle = 0; cycle < 100; cycle += 1) {
      client.connect()
      await time.advance(cycle % 7)
      client.close()
    }
    await time.advance(100)
    expect([scene.timers, page.listeners.size, server.sockets.size]).toEqual([0, 0, 0])
  })

  it('A view follows its local client again, with the listeners that it had.', async () => {
    const scene = await createLocalScene()
    const local = scene.create()
    await untilCurrent(scene, local)
    const view = local.for(CONTEXT)
    const seen: unknown[] = []
    view.subscribe('banner', (banner) => seen.push(banner))
    view.watch(() => seen.push(view.status.connection))
    view.close()
    await scene.publish(flagChange(textFlag('banner', 'closed')))
    await scene.clock.advance(1000)
    view.connect()
    view.connect()
    await scene.publish(flagChange(textFlag('banner', 'open')))
    await scene.clock.advance(5000)
    expect(view.value('banner')).toBe('open')
    expect(seen.filter((each) => each !== 'socket')).toEqual(['closed', 'closed', 'open'])
    expect(view.status.connection).toBe('socket')
    await scene.close()
  })
})

describe('the identity of the status and of details', () => {
  it('They are the same objects until something in them changes.', async () => {
    const { client, server, time } = createScene()
    await time.advance(100)
    const [status, theme, limit] = [client.status, client.detail('theme'), client.detail('limit')]
    const unknown = client.detail('unknown' as never)
    await time.advance(1000)
    expect(client.status).toBe(status)
    expect(client.detail('theme')).toBe(theme)
    expect(client.detail('unknown' as never)).toBe(unknown)
    server.publish({ theme: 'dark' })
    expect(client.status).not.toBe(status)
    expect(client.detail('theme')).toMatchObject({ value: 'dark', version: theme.version + 1 })
    expect(client.detail('limit')).toEqual({ ...limit, version: limit.version + 1 })
    expect(client.detail('theme', 'red')).toBe(client.detail('theme'))
    client.close()
    expect(client.status).toBe(client.status)
  })

  it('A detail of a JSON value is the same object after an update with an equal value.', async () => {
    const { client, time } = createScene({ transport: 'request' })
    await time.advance(100)
    const layout = client.detail('layout')
    await time.advance(200_000)
    expect(client.status.updatedAt).toBeGreaterThan(time.now() - 100_000)
    expect(client.detail('layout')).toBe(layout)
    client.close()
  })

  it('The same holds for local clients, their views and test clients.', async () => {
    const scene = await createLocalScene()
    await scene.publish(flagChange(textFlag('banner', 'hello')))
    const local = scene.create()
    await untilCurrent(scene, local)
    const view = local.for(CONTEXT)
    const test = createTestClient(flags)
    for (const client of [local, view, test]) expect(client.status).toBe(client.status)
    expect(view.detail('banner')).toBe(view.detail('banner'))
    expect(view.detail('count')).toBe(view.detail('count'))
    expect(test.detail('theme')).toBe(test.detail('theme'))
    const [status, detail] = [view.status, view.detail('banner')]
    await scene.publish(flagChange(textFlag('banner', 'changed')))
    await scene.clock.advance(1000)
    expect(view.status).not.toBe(status)
    expect(view.detail('banner')).not.toBe(detail)
    await scene.close()
  })

  it('Details of any number of unknown flags are not kept in memory.', () => {
    const { client } = createScene({ connect: false })
    const first = client.detail('unknown-0' as never)
    for (let n = 1; n <= 10_000; n += 1) client.detail(`unknown-${n}` as never)
    expect(client.detail('unknown-0' as never)).not.toBe(first)
  })
})

describe('a platform without `URLSearchParams`', () => {
  afterEach(() => void vi.unstubAllGlobals())

  it('A client works without `overrides`.', async () => {
    vi.stubGlobal('URLSearchParams', undefined)
    const { client, time } = createScene()
    await time.advance(100)
    expect(client.value('theme')).toBe('light')
    client.close()
  })
})
