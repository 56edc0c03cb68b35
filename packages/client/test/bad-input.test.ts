import { afterEach, beforeEach, expect, it } from 'vitest'
import { createTestClient } from '../src/testing.ts'
import { settle } from './fake-time.ts'
import { createScene, flags } from './scene.ts'

const rejections: unknown[] = []
const note = (error: unknown) => void rejections.push(error)

beforeEach(() => {
  process.on('unhandledRejection', note)
})

afterEach(() => {
  process.off('unhandledRejection', note)
})

const cyclic: Record<string, unknown> = { kind: 'user' }
cyclic['self'] = cyclic
const hostile = {
  kind: 'user',
  get key(): never {
    throw new Error('hostile')
  },
}

const BAD: readonly unknown[] = [
  ...[undefined, null, 0, -1, Number.NaN, Infinity, 1n, '', 'x', Symbol('s'), true, [], {}],
  ...[() => 0, cyclic, hostile, new Proxy({}, { get: () => () => 0 }), '__proto__', 'constructor'],
  ...[{ timeoutMs: 'x' }, { timeoutMs: -1 }, { kind: 'x'.repeat(1000) }, new Map(), new Date(0)],
]

type Loose = Readonly<Record<string, (...input: readonly unknown[]) => unknown>>

const METHODS = [
  ...['value', 'detail', 'subscribe', 'setContext', 'reset', 'ready'],
  ...['snapshot', 'freeze', 'unfreeze', 'close'],
] as const

it.each(['up', 'down', 'blackhole', 'closed'] as const)(
  'No method throws or rejects with bad input while the server is %s.',
  async (state) => {
    const { client, server, time } = createScene({
      onError: () => {
        throw new Error('broken handler')
      },
    })
    await time.advance(100)
    if (state === 'closed') client.close()
    else server.state = state
    const pending: unknown[] = []
    const calls = METHODS.flatMap((each) => BAD.map((bad) => [each, bad] as const))
    for (const [index, [name, bad]] of calls.entries()) {
      if (name === 'close') continue
      for (const other of [undefined, hostile, BAD[index % BAD.length]]) {
        pending.push((client as unknown as Loose)[name]?.(bad, other))
      }
      expect(client.status).toBeDefined()
      await time.advance(3)
    }
    await time.advance(3_600_000)
    server.state = 'up'
    server.publish({ theme: 'dark', x: 1, '': 2 })
    await time.advance(200_000)
    client.close()
    await Promise.all(pending.filter((each) => each instanceof Promise))
    await settle()
    expect(client.value('theme')).toMatch(/light|dark|fallback/)
    expect(rejections).toEqual([])
  },
)

it('A client is created with any optional options, and never throws afterwards.', async () => {
  const names = ['flags', 'context', 'bootstrap', 'overrides', 'onError', 'transport'] as const
  for (const name of names) {
    for (const bad of BAD) {
      const { client, time } = createScene({ [name]: bad } as never)
      await time.advance(20_000)
      client.value('theme')
      client.detail('theme')
      client.snapshot()
      client.close()
    }
  }
  await settle()
  expect(rejections).toEqual([])
})

it('No method of a test client throws or rejects with bad input.', async () => {
  const client = createTestClient(flags) as unknown as Loose
  for (const name of [...METHODS, 'set']) {
    for (const bad of BAD) {
      const result = client[name]?.(bad, bad)
      if (result instanceof Promise) await result
    }
  }
  expect(rejections).toEqual([])
})
