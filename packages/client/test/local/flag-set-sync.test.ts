import { createFlagServer } from '@ff/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashSecret } from '../../../server/src/access/secrets.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { settle } from '../../../server/test/fake-clock.ts'
import { addSdkKey, flagChange, publish, seed, textFlag } from '../../../server/test/seed.ts'
import { createLocalScene, type LocalScene, untilCurrent, user } from './local-scene.ts'

let scene: LocalScene

beforeEach(async () => {
  scene = await createLocalScene()
  const others = ['1', '2', '3', '4', '5'].map((key) => flagChange(textFlag(key, 'x')))
  await scene.publish(flagChange(textFlag('banner', 'hello')), ...others)
})

afterEach(() => scene.close())

const set = (key: string, value: string) => scene.publish(flagChange(textFlag(key, value)))

/** Changes the next update on a socket. */
function spoil(change: (update: Record<string, unknown>) => unknown): void {
  scene.network.socketScript = (text) => {
    const message = JSON.parse(text)
    if (message.update === undefined || message.update.from === message.update.to) return text
    scene.network.socketScript = (same) => same
    return JSON.stringify({ ...message, update: change(message.update) })
  }
}

describe('faulty updates', () => {
  it.each<[string, (update: Record<string, unknown>) => unknown]>([
    ['a gap', (update) => ({ ...update, from: Number(update['from']) - 1 })],
    ['a wrong root', (update) => ({ ...update, root: '0'.repeat(64) })],
    ['other definitions', (update) => ({ ...update, flags: [{ id: 'x', definition: null }] })],
    ['a lower version', (update) => ({ ...update, to: 0 })],
    ['no root', ({ root, ...update }) => update],
    ['a wrong type', () => 'text'],
  ])('After %s, the old flag set remains until the new one is received.', async (_, change) => {
    const local = scene.create()
    await untilCurrent(scene, local)
    spoil(change)
    await set('banner', 'changed')
    await settle()
    expect(local.value('banner', user)).toBe('hello')
    await scene.clock.advance(5000)
    await untilCurrent(scene, local)
    expect(local.value('banner', user)).toBe('changed')
    expect(local.status).toMatchObject({ source: 'server', isCurrent: true })
  })

  it('After a wrong root, the whole flag set is requested.', async () => {
    const local = scene.create()
    await untilCurrent(scene, local)
    spoil((update) => ({ ...update, root: 'wrong' }))
    await set('banner', 'changed')
    await scene.clock.advance(5000)
    const requests = scene.network.requests.filter((each) => each === 'GET /evaluator/flag-set')
    expect(requests).toHaveLength(2)
    expect(scene.errors).toMatchObject([
      { message: expect.stringContaining('do not have the expected root') },
    ])
  })

  it('A server that sends only faulty answers receives few requests.', async () => {
    const local = scene.create()
    await untilCurrent(scene, local)
    scene.network.script = () => Response.json({ version: 99, flags: [], segments: [], root: 'x' })
    scene.network.socketScript = () => '{"type":"flagSet","version":99}'
    const before = scene.network.requests.length
    await set('banner', 'changed')
    await scene.clock.advance(600_000)
    expect(local.value('banner', user)).toBe('hello')
    expect(scene.network.requests.length - before).toBeLessThan(120)
  })

  it('Unknown messages, errors and faulty JSON leave the flag set unchanged.', async () => {
    const local = scene.create()
    await untilCurrent(scene, local)
    const [socket] = scene.network.sockets
    for (const data of ['{"type":"later"}', 'null', '7', '{', '[]', '{"type":"flagSet"}']) {
      const [open = socket] = scene.network.sockets
      open?.onmessage?.({ data })
      await scene.clock.advance(3000)
      expect(local.value('banner', user)).toBe('hello')
    }
    await untilCurrent(scene, local)
    expect(local.status.isCurrent).toBe(true)
  })
})

describe('versions', () => {
  it.each(['auto', 'long-poll', 'request'] as const)(
    'After a restored backup, a client with the transport "%s" accepts the lower version.',
    async (transport) => {
      const local = scene.create({ transport })
      await untilCurrent(scene, local)
      for (let change = 0; change < 5; change += 1) await set('banner', `v${change}`)
      await scene.clock.advance(60_000)
      expect(local.status.version).toBe(6)
      const restored = await restore('restored', 2)
      scene.network.server = restored
      for (const socket of [...scene.network.sockets]) socket.lose()
      await scene.clock.advance(120_000)
      await untilCurrent(scene, local)
      expect(local.value('banner', user)).toBe('restored')
      expect(local.status.version).toBe(3)
      await restored.close()
    },
  )

  it('An older answer without the mark of a restore is ignored.', async () => {
    const old = await scene.server.fetch(
      new Request('http://flags.test/evaluator/flag-set', {
        headers: { 'x-api-key': scene.sdkKey },
      }),
    )
    const text = await old.text()
    await set('banner', 'changed')
    await settle()
    const local = scene.create({ transport: 'request' })
    await untilCurrent(scene, local)
    expect(local.value('banner', user)).toBe('changed')
    scene.network.script = () => new Response(text)
    await scene.clock.advance(300_000)
    expect(local.value('banner', user)).toBe('changed')
    scene.network.script = () => undefined
    await scene.clock.advance(100_000)
    expect(local.status).toMatchObject({ version: 2, isCurrent: true })
  })

  /** Creates a server whose store has the same key and fewer versions. */
  async function restore(value: string, changes: number) {
    const memory = allInMemory()
    const { live } = await seed(memory.storage)
    await addSdkKey(memory.storage, live, {
      kind: 'server',
      hash: await hashSecret(scene.sdkKey),
    })
    for (let change = 0; change <= changes; change += 1) {
      await publish(
        memory,
        live.environmentId,
        flagChange(textFlag('banner', change === changes ? value : `v${change}`)),
      )
    }
    const server = createFlagServer({ ...memory, clock: scene.clock })
    await server.start()
    return server
  }
})
