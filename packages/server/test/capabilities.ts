import { FlagError } from '@ff/core'
import {
  type Capabilities,
  type ChangeFeed,
  type ChangeListener,
  type InstanceReports,
  memory,
  type RateLimiter,
  type Storage,
} from '@ff/storage'

/** The capabilities of a server, all of them present. */
export interface AllCapabilities {
  readonly storage: Storage
  readonly changeFeed: ChangeFeed
  readonly rateLimiter: RateLimiter
  readonly instanceReports: InstanceReports
}

/** Creates all capabilities in memory. */
export function allInMemory(): AllCapabilities {
  const { storage, changeFeed, rateLimiter, instanceReports }: Capabilities = memory()
  if (!storage || !changeFeed || !rateLimiter || !instanceReports)
    throw new Error('memory() must provide every capability')
  return { storage, changeFeed, rateLimiter, instanceReports }
}

/**
 * Wraps a store so that it can fail or be slow. While it is broken, every call except `close`
 * rejects. While it is held, every call except `close` waits until the store is released. `calls`
 * lists the names of the calls.
 */
export function breakable(storage: Storage): {
  storage: Storage
  break(): void
  repair(): void
  hold(): void
  release(): void
  calls: string[]
} {
  let isBroken = false
  let held: Promise<void> | undefined
  let letThrough = () => {}
  const calls: string[] = []
  const proxy = new Proxy(storage, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function') return value
      return (...parameters: unknown[]) => {
        calls.push(name === 'list' ? `list ${parameters[0]}` : String(name))
        if (isBroken && name !== 'close') return Promise.reject(away())
        if (held === undefined || name === 'close') return value.apply(target, parameters)
        return held.then(() => value.apply(target, parameters))
      }
    },
  })
  return {
    storage: proxy,
    calls,
    break() {
      isBroken = true
    },
    repair() {
      isBroken = false
    },
    hold() {
      held = new Promise((resolve) => {
        letThrough = resolve
      })
    },
    release() {
      held = undefined
      letThrough()
    },
  }
}

const away = () => new FlagError('UNAVAILABLE', 'The store is unavailable.')

/** Wraps a change feed so that its hints can be lost, as with a broken connection. */
export function losable(feed: ChangeFeed): {
  changeFeed: ChangeFeed
  lose(isLosing: boolean): void
} {
  let isLosing = false
  return {
    changeFeed: {
      publish: async (change) => {
        if (!isLosing) await feed.publish(change)
      },
      subscribe: (listener) => feed.subscribe(listener),
    },
    lose(next) {
      isLosing = next
    },
  }
}

/**
 * Wraps the change feed of one process so that hints wait until the test delivers them, in any
 * order.
 */
export function disordered(feed: ChangeFeed): {
  changeFeed: ChangeFeed
  /**
   * Delivers one of the waiting hints, if there are any. If `isKept`, it can be delivered again.
   */
  letThrough(place: number, isKept: boolean): void
} {
  const hints: (() => void)[] = []
  const holding = (listener: ChangeListener) =>
    feed.subscribe((change) => void hints.push(() => listener(change)))
  return {
    changeFeed: { publish: (change) => feed.publish(change), subscribe: holding },
    letThrough(place, isKept) {
      const at = place % Math.max(1, hints.length)
      hints[at]?.()
      if (!isKept) hints.splice(at, 1)
    },
  }
}
