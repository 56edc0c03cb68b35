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

it('localStorageCache stores texts in localStorage.', () => {
  const texts: Record<string, string> = {}
  vi.stubGlobal('localStorage', texts)
  const cache = localStorageCache()
  cache.set('a', '1')
  expect([cache.get('a'), cache.get('b'), texts]).toEqual(['1', undefined, { a: '1' }])
  cache.remove('a')
  expect(texts).toEqual({})
})
