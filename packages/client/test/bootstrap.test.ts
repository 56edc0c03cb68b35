import { compileFlagSet, type EvaluationContext, evaluateFlag, parseContext } from '@ff/core'
import { contextTextOf, textHash } from '@ff/protocol/snapshot'
import { describe, expect, it } from 'vitest'
import { gradualFlag } from '../../core/test/definitions.ts'
import { createValueCache, type FlagCache, memoryCache } from '../src/values/value-cache.ts'
import { settle } from './fake-time.ts'
import { CONTEXT, createScene, OWNER } from './scene.ts'

const contextText = contextTextOf(CONTEXT) ?? ''
const SAME = textHash(contextText)

/** Returns a cache with values of the context of the tests. */
async function cacheWith(version: number, time: number): Promise<FlagCache> {
  const cache = memoryCache()
  await createValueCache(cache, OWNER, () => {}).save(contextText, {
    flags: { theme: 'dark' },
    version,
    time,
  })
  return cache
}

const asynchronous = (cache: FlagCache): FlagCache => ({
  remove: (name) => cache.remove(name),
  get: async (name) => cache.get(name),
  set: async (name, text) => cache.set(name, text),
})

/** Returns the source of the values of a client before the server responds. */
async function sourceBesides(
  bootstrap: object,
  cachedVersion: number,
  prepare: (cache: FlagCache) => FlagCache = (cache) => cache,
): Promise<string> {
  const cache = prepare(await cacheWith(cachedVersion, Date.parse('2030-01-01T00:00:00.000Z')))
  const flags = { theme: 'light' }
  const { client } = createScene(
    { cache, bootstrap: { flags, ...bootstrap } as never },
    (server) => {
      server.state = 'blackhole'
    },
  )
  await settle()
  expect(client.value('theme')).toBe(client.status.source === 'cache' ? 'dark' : 'light')
  return client.status.source
}

describe('a bootstrap beside cached values of the context', () => {
  it.each([
    ['an equal hash', { context: SAME }],
    ['no hash', {}],
  ])(
    'A bootstrap with %s gives way only to a cached version that is known to be greater.',
    async (_, context) => {
      for (const prepare of [undefined, asynchronous]) {
        for (const [version, cachedVersion, source] of [
          [5, 4, 'bootstrap'],
          [5, 5, 'bootstrap'],
          [5, 6, 'cache'],
          [5, 0, 'bootstrap'],
          [undefined, 6, 'bootstrap'],
          [0, 6, 'bootstrap'],
          ['5', 6, 'bootstrap'],
          [null, 6, 'bootstrap'],
          [-1, 6, 'bootstrap'],
        ] as const) {
          expect([
            version,
            cachedVersion,
            await sourceBesides({ ...context, version }, cachedVersion, prepare),
          ]).toEqual([version, cachedVersion, source])
        }
      }
    },
  )

  it.each(['other', 7, null, ''])(
    'A bootstrap of the context %j gives way to every cached version.',
    async (context) => {
      for (const version of [5, undefined, '5']) {
        for (const cachedVersion of [0, 4, 5, 6]) {
          for (const prepare of [undefined, asynchronous]) {
            expect(await sourceBesides({ context, version }, cachedVersion, prepare)).toBe('cache')
          }
        }
      }
    },
  )

  it('The response of the server replaces a bootstrap of the same version.', async () => {
    const cache = await cacheWith(1, Date.parse('2030-01-01T00:00:00.000Z'))
    const bootstrap = { flags: { theme: 'red' }, version: 1, context: SAME }
    const { client, time } = createScene({ cache, bootstrap })
    expect(client.value('theme')).toBe('red')
    await time.advance(100)
    expect([client.value('theme'), client.status.source]).toEqual(['light', 'server'])
  })
})

it('No page of a gradual rollout shows another value than its HTML before the server responds.', async () => {
  const startAt = '2030-01-01T00:00:00.000Z'
  const definition = { version: 7, flags: [gradualFlag('new-checkout', startAt)], segments: [] }
  const flagSet = compileFlagSet(definition)
  const valueAt = (context: EvaluationContext, now: number) =>
    evaluateFlag(flagSet, 'new-checkout', parseContext(context), now).value as boolean
  let differing = 0
  for (let page = 0; page < 200; page += 1) {
    const context = { kind: 'user', key: `user-${page}` }
    const text = contextTextOf(context) ?? ''
    const cache = memoryCache()
    // The last visit was some steps of the rollout ago, with the same version of the flag set.
    const html = valueAt(context, Date.parse(startAt) + 6 * 3_600_000)
    const visited = valueAt(context, Date.parse(startAt))
    if (html !== visited) differing += 1
    const flags = { 'new-checkout': visited }
    const time = Date.parse(startAt)
    await createValueCache(cache, OWNER, () => {}).save(text, { flags, version: 7, time })
    const bootstrap = { flags: { 'new-checkout': html }, version: 7, context: textHash(text) }
    const scene = createScene({ context, cache, bootstrap }, (server) => {
      server.state = 'blackhole'
    })
    const frames = new Set([scene.client.value('new-checkout')])
    scene.client.subscribe('new-checkout', (value) => frames.add(value))
    await scene.time.advance(3000)
    expect([...frames]).toEqual([html])
    scene.client.close()
  }
  expect(differing).toBeGreaterThan(20)
})
