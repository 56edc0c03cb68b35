import { afterEach, expect, it, vi } from 'vitest'
import { localStorageCache } from '../values/value-cache.ts'
import { platformWith } from './platform.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

it('The platform of a page reports its visibility and connectivity, and removes its listeners.', () => {
  const target = new EventTarget()
  vi.stubGlobal('addEventListener', target.addEventListener.bind(target))
  vi.stubGlobal('removeEventListener', target.removeEventListener.bind(target))
  vi.stubGlobal('document', { hidden: true })
  vi.stubGlobal('navigator', { onLine: false })
  const { lifecycle } = platformWith({})
  expect([lifecycle.isHidden(), lifecycle.isOffline()]).toEqual([true, true])
  const listener = vi.fn()
  const stop = lifecycle.subscribe(listener)
  for (const type of ['visibilitychange', 'online', 'offline'])
    target.dispatchEvent(new Event(type))
  stop()
  target.dispatchEvent(new Event('online'))
  expect(listener).toHaveBeenCalledTimes(3)
})

it('A platform without page events is visible and online.', () => {
  vi.stubGlobal('navigator', undefined)
  vi.stubGlobal('performance', undefined)
  const { lifecycle, clock } = platformWith({})
  expect([lifecycle.isHidden(), lifecycle.isOffline()]).toEqual([false, false])
  lifecycle.subscribe(() => {})()
  expect(clock.monotonicNow()).toBeGreaterThan(1_000_000)
})

const response = { status: 200, headers: { get: () => null }, json: async () => ({}) }
const request = { method: 'POST', body: '{}' }

it('Every request bypasses the caches of the platform.', async () => {
  const fetch = vi.fn(async () => response)
  vi.stubGlobal('fetch', fetch)
  for (const platform of [platformWith({}), platformWith({ fetch })]) {
    await platform.fetch?.('http://localhost', request)
    expect(fetch).toHaveBeenLastCalledWith('http://localhost', {
      ...request,
      ...{ cache: 'no-store', redirect: 'manual' },
    })
  }
})

it('A page follows redirects, because browsers hide them from programs.', async () => {
  vi.stubGlobal('document', { hidden: false })
  const fetch = vi.fn(async (_: string, _request: object) => response)
  await platformWith({ fetch }).fetch?.('http://localhost', request)
  expect(fetch.mock.calls[0]?.[1]).toMatchObject({ redirect: 'follow' })
})

it.each([
  "The 'cache' field on 'RequestInitializerDict' is not implemented.",
  'Unsupported cache mode: no-store',
])('A platform that says "%s" receives requests without the option.', async (message) => {
  const fetch = vi.fn((_: string, { cache }: { readonly cache?: string }) => {
    if (cache) throw new TypeError(message)
    return Promise.resolve(response)
  })
  const platform = platformWith({ fetch })
  expect(await platform.fetch?.('http://localhost', request)).toBe(response)
  expect(await platform.fetch?.('http://localhost', request)).toBe(response)
  expect(fetch).toHaveBeenCalledTimes(3)
})

it('A failed request is not repeated, and the next one bypasses the caches too.', async () => {
  const fetch = vi.fn((_: string, _request: object) => Promise.reject(new Error('fetch failed')))
  const platform = platformWith({ fetch })
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    await expect(platform.fetch?.('http://cache', request)).rejects.toThrow('fetch failed')
    expect(
      fetch.mock.calls.map(([, { cache }]: readonly [string, { cache?: string }]) => cache),
    ).toEqual(Array(attempt).fill('no-store'))
  }
})

it('localStorageCache stores texts in localStorage.', () => {
  const texts: Record<string, string> = {}
  vi.stubGlobal('localStorage', texts)
  const cache = localStorageCache()
  cache.set('a', '1')
  expect([cache.get('a'), cache.get('b'), texts]).toEqual(['1', undefined, { a: '1' }])
  cache.remove('a')
  expect(texts).toEqual({})
})
