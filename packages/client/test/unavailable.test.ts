import { describe, expect, it } from 'vitest'
import type { FlagClientOptions } from '../src/index.ts'
import type { Scripted } from './fake-server.ts'
import { createLocalScene } from './local/local-scene.ts'
import { createScene, type Scene, type Values } from './scene.ts'

const MINUTE = 60_000
const AT = 'The flag server http://flags.test is not available'

const REFUSALS = [
  [401, 'refused'],
  [403, 'refused'],
  [400, 'invalidContext'],
  [413, 'invalidContext'],
] as const

const messages = ({ errors }: { readonly errors: readonly unknown[] }) =>
  errors.map((error) => (error instanceof Error ? error.message : error))

/** Creates a client of a server that answers each request in the same way, and lets no socket open. */
function behind(
  scripted: Scripted | undefined,
  options: Partial<FlagClientOptions<Values>> = {},
): Scene {
  return createScene(options, (server) => {
    server.hasSockets = false
    server.script = () => scripted
  })
}

describe('a server that is not available', () => {
  it.each([
    ['the server is down', 'down', undefined, 'cannot reach'],
    ['nothing responds', 'blackhole', undefined, 'no response within 10 s'],
    ['the base path is wrong', 'up', { status: 404, body: {} }, '404: is the base path right?'],
    [
      'a page responds',
      'up',
      { status: 200, body: '<html>' },
      '200, but not JSON of a flag server',
    ],
    [
      'another service responds',
      'up',
      { status: 200, body: {} },
      '200, but not JSON of a flag server',
    ],
    [
      'a log-in page redirects',
      'up',
      { status: 302, headers: { Location: 'https://login.test/in?state=1#x' }, body: '' },
      '302, redirected to https://login.test/in',
    ],
    [
      'the response redirects to itself',
      'up',
      { status: 307, headers: { Location: '/evaluator/evaluate' }, body: '' },
      '307, redirected to /evaluator/evaluate',
    ],
    ['a proxy has no server', 'up', { status: 502, body: '' }, '502'],
  ] as const)(
    'When %s, onError receives the URL and the cause once.',
    async (_, state, scripted, cause) => {
      for (const transport of ['auto', 'request', 'long-poll'] as const) {
        const scene = createScene({ transport }, (server) => {
          server.state = state
          server.hasSockets = false
          server.script = () => scripted
        })
        await scene.time.advance(10 * MINUTE)
        expect(messages(scene)).toEqual([`${AT}: ${cause}`])
        // Redirects are followed three times.
        expect(scene.server.attempts.length).toBeLessThan(200)
      }
    },
  )

  it.each(REFUSALS)('The status %i is reported once as %s.', async (status, code) => {
    for (const transport of ['auto', 'request'] as const) {
      const scene = behind({ status, body: {} }, { transport })
      await scene.time.advance(30 * MINUTE)
      expect(scene.errors).toMatchObject([{ code }])
      expect(messages(scene).join()).toContain(
        ` refuses the ${code === 'refused' ? 'SDK key' : 'context'}: ${status}`,
      )
      void scene.client.setContext({ kind: 'user', key: 'u2' })
      await scene.time.advance(30 * MINUTE)
      expect(messages(scene)).toHaveLength(code === 'refused' ? 1 : 2)
    }
  })

  it('Each cause is reported once, and again only after a minute without failures.', async () => {
    const scene = behind({ status: 502, body: '' }, { transport: 'request' })
    for (const status of [503, 502, 503]) {
      await scene.time.advance(2 * MINUTE)
      scene.server.script = () => ({ status, body: '' })
    }
    await scene.time.advance(2 * MINUTE)
    expect(messages(scene)).toEqual([`${AT}: 502`, `${AT}: 503`])
    scene.server.script = () => undefined
    await scene.time.advance(3 * MINUTE)
    scene.server.script = () => ({ status: 502, body: '' })
    await scene.time.advance(2 * MINUTE)
    expect(messages(scene)).toHaveLength(3)
  })

  it('The end of a connection that worked is not reported if the next attempt succeeds.', async () => {
    for (const transport of ['socket', 'long-poll', 'auto'] as const) {
      const scene = createScene({ transport })
      for (let restart = 0; restart < 20; restart += 1) {
        await scene.time.advance(2 * MINUTE)
        scene.server.drop()
      }
      await scene.time.advance(2 * MINUTE)
      expect([messages(scene), scene.client.status.isCurrent]).toEqual([[], true])
    }
  })

  it('An outage is reported once by a client that was connected.', async () => {
    const scene = createScene()
    await scene.time.advance(2 * MINUTE)
    scene.server.stop()
    await scene.time.advance(5 * MINUTE)
    scene.server.state = 'up'
    await scene.time.advance(10 * MINUTE)
    expect(messages(scene)).toEqual([`${AT}: cannot reach`])
    expect(scene.client.status).toMatchObject({ isCurrent: true })
  })

  it('A short outage does not look like sockets that do not work, also after requests worked.', async () => {
    const scene = createScene()
    scene.page.set({ hidden: true })
    await scene.time.advance(3 * MINUTE)
    scene.page.set({ hidden: false })
    await scene.time.advance(2 * MINUTE)
    expect(scene.server.attempts.map(({ kind }) => kind)).toEqual(['socket', 'evaluate', 'socket'])
    scene.server.stop()
    await scene.time.advance(1200)
    scene.server.state = 'up'
    await scene.time.advance(2 * MINUTE)
    expect(scene.server.attempts.length).toBeGreaterThan(4)
    expect([messages(scene), scene.client.status.isCurrent]).toEqual([[], true])
  })

  it('A pause and its return are not reported, and a later failure is.', async () => {
    for (const [pause, end] of [
      [{ offline: true }, { offline: false }],
      [{ hidden: true }, { hidden: false }],
    ] as const) {
      const scene = createScene({ transport: 'request' })
      scene.page.set(pause)
      await scene.time.advance(3 * MINUTE)
      scene.server.state = 'down'
      await scene.time.advance(10 * MINUTE)
      scene.page.set(end)
      await scene.time.advance(9000)
      expect(messages(scene)).toEqual([])
      await scene.time.advance(MINUTE)
      expect(messages(scene)).toHaveLength(1)
    }
  })

  it('A message contains neither the key nor the password nor the query of the URL.', async () => {
    for (const url of ['http://ada:secret@flags.test', 'http://flags.test/base?token=secret']) {
      expect(() => createScene({ url })).toThrow(TypeError)
      expect(() => createScene({ url })).not.toThrow('secret')
    }
    const headers = { Location: 'http://flags.test/in?token=secret' }
    const scene = behind({ status: 301, headers, body: {} }, { sdkKey: 'secret' })
    await scene.time.advance(MINUTE)
    expect(messages(scene)).toHaveLength(1)
    expect(messages(scene).join()).not.toContain('secret')
  })

  it('A local client reports each cause once too.', async () => {
    const scene = await createLocalScene()
    scene.network.isDown = true
    const local = scene.create()
    await scene.clock.advance(10 * MINUTE)
    expect(messages(scene)).toEqual([`${AT}: cannot reach`])
    await local.close()
  })

  it('Sockets that do not work although requests do are reported once.', async () => {
    const scene = behind(undefined)
    await scene.time.advance(120 * MINUTE)
    expect(messages(scene)).toEqual([`${AT}: WebSocket closed (1006)`])
  })
})
