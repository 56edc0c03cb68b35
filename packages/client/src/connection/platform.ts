import type { ClientSocketConstructor, Fetch } from '../transports/transport.ts'
import type { Clock } from './alarms.ts'

/** The platform of a client. */
export interface Platform {
  /** `undefined` if the platform has no `fetch`. */
  readonly fetch: Fetch | undefined
  /** `undefined` if the platform has no `WebSocket`. */
  readonly webSocket: ClientSocketConstructor | undefined
  readonly clock: Clock
  /** Returns a random number from 0 to 1, 1 excluded. */
  readonly random: () => number
  readonly lifecycle: Lifecycle
}

/** The visibility and connectivity of a page or an app. */
export interface Lifecycle {
  /** Returns `true` if the page is hidden or the app is in the background. */
  isHidden(): boolean
  /** Returns `true` if the platform has no network. */
  isOffline(): boolean
  /** Calls `listener` after each change. Returns a function that removes the listener. */
  subscribe(listener: () => void): () => void
}

interface Globals {
  addEventListener?(type: string, listener: () => void): void
  removeEventListener?(type: string, listener: () => void): void
  readonly fetch?: Fetch
  readonly WebSocket?: ClientSocketConstructor
  readonly performance?: { now(): number }
  readonly document?: { readonly hidden?: boolean }
  readonly navigator?: { readonly onLine?: boolean }
  readonly setTimeout: (task: () => void, delayMs: number) => unknown
  readonly clearTimeout: (timer: unknown) => void
}

/** The globals of the platform. Most of them are absent on some platforms. */
const globals = globalThis as unknown as Globals

const systemClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => (globals.performance ?? Date).now(),
  schedule(delayMs, task) {
    const timer = globals.setTimeout(task, delayMs)
    return () => globals.clearTimeout(timer)
  },
}

const PAGE_EVENTS = ['visibilitychange', 'online', 'offline']

/** The events of a browser page. Other platforms have no such events. */
const pageLifecycle: Lifecycle = {
  isHidden: () => !!globals.document?.hidden,
  isOffline: () => globals.navigator?.onLine === false,
  // The events of the document reach the window.
  subscribe(listener) {
    const change = (method: 'addEventListener' | 'removeEventListener') => {
      for (const type of PAGE_EVENTS) globals[method]?.(type, listener)
    }
    change('addEventListener')
    return () => change('removeEventListener')
  },
}

/**
 * Returns a `fetch` that bypasses all caches, because some frameworks cache the responses of every
 * `fetch`. A platform that refuses the option `cache` does not cache. Outside of pages, redirects
 * are not followed, because the SDK key must not be sent to another host.
 */
function directFetch(fetch: Fetch): Fetch {
  const options: { redirect: 'follow' | 'manual'; cache?: 'no-store' } = {
    redirect: globals.document ? 'follow' : 'manual',
    cache: 'no-store',
  }
  return async (url, request) => {
    const send = () => fetch(url, { ...request, ...options })
    try {
      return await send()
    } catch (error) {
      if (!/'cache'|cache mode/.test(String(error))) throw error
      delete options.cache
      return send()
    }
  }
}

/** Returns the platform on which the code runs, with some parts replaced. */
export function platformWith(
  parts: { readonly [Part in keyof Platform]?: Platform[Part] | undefined },
): Platform {
  const fetch = parts.fetch ?? globals.fetch?.bind(globals)
  return {
    fetch: fetch && directFetch(fetch),
    webSocket: parts.webSocket ?? globals.WebSocket,
    clock: parts.clock ?? systemClock,
    random: parts.random ?? Math.random,
    lifecycle: parts.lifecycle ?? pageLifecycle,
  }
}
