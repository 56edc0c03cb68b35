import { FlagError } from '@ff/core'
import {
  type Capabilities,
  type ChangeFeed,
  type ChangeListener,
  memory,
  type RateLimiter,
  type Storage,
} from '@ff/storage'

export interface AllCapabilities {
  readonly storage: Storage
  readonly changeFeed: ChangeFeed
  readonly rateLimiter: RateLimiter
}

/** Everything in memory, each ability present. */
export function allInMemory(): AllCapabilities {
  const { storage, changeFeed, rateLimiter }: Capabilities = memory()
  if (!storage || !changeFeed || !rateLimiter) throw new Error('memory() lacks an ability')
  return { storage, changeFeed, rateLimiter }
}

/** A store that can be made to fail, when every call but `close` rejects, or to be slow. */
export function breakable(storage: Storage): {
  storage: Storage
  break(): void
  repair(): void
  delay(ms: number): void
  calls: string[]
} {
  let isBroken = false
  let delayMs = 0
  const calls: string[] = []
  const proxy = new Proxy(storage, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function') return value
      return (...parameters: unknown[]) => {
        calls.push(name === 'list' ? `list ${parameters[0]}` : String(name))
        if (isBroken && name !== 'close') return Promise.reject(away())
        if (delayMs === 0 || name === 'close') return value.apply(target, parameters)
        return pause(delayMs).then(() => value.apply(target, parameters))
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
    delay(ms) {
      delayMs = ms
    },
  }
}

const away = () => new FlagError('UNAVAILABLE', 'The store is away.')

/** In real time, without keeping the process alive. */
const pause = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms).unref())

/** A feed whose hints can be swallowed, as a broken connection does. */
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

/** A feed to one process whose hints wait until the test lets them through, in whatever order. */
export function disordered(feed: ChangeFeed): {
  changeFeed: ChangeFeed
  /** One of the hints that wait, if any does; it may come again when it is kept. */
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
