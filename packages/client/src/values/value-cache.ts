import { isObject, textHash } from '@ff/protocol/snapshot'
import { isVersion, jsonIn } from '../json/json.ts'
import { reportNew } from './reporting.ts'

/** A store of texts by name, such as `localStorage` or React Native's AsyncStorage. */
export interface FlagCache {
  /** Returns the text, or a promise of it. Returns `null` or `undefined` if there is none. */
  get(name: string): unknown
  set(name: string, text: string): unknown
  remove(name: string): unknown
}

/** The cached values of a context. */
export interface CachedValues {
  readonly flags: Readonly<Record<string, unknown>>
  readonly version: number
  readonly etag?: string | undefined
  /** The time at which the server confirmed the values, in epoch milliseconds. */
  readonly time: number
}

/** The cached values of one client, by context. A store that throws when it is read is empty. */
export interface ValueCache {
  /**
   * Passes the cached values of a context to `use`, immediately if the store is synchronous. Does
   * not call `use` if there are no values, or if they are older than 30 days. Removes damaged
   * values.
   */
  load(contextText: string, now: number, use: (cached: CachedValues) => void): void
  /** Writes the values. Never rejects. */
  save(contextText: string, values: CachedValues): Promise<void>
}

const MAX_CONTEXTS = 5
const MAX_AGE_MS = 2_592_000_000

/**
 * Creates the cache of a client in a store. `owner` is the URL and the SDK key. Each text contains
 * the hash of its values, so that a text that was not written completely is detected. `report`
 * receives the errors of writing. An error that follows an equal one is not passed.
 */
export function createValueCache(
  store: FlagCache,
  owner: string,
  report: (error: unknown) => void,
): ValueCache {
  const note = reportNew(report)
  const nameOf = (part: string) => `ff1:${textHash(`${owner}\n${part}`)}`

  return {
    load(contextText, now, use) {
      const name = nameOf(contextText)
      attempt(
        () => store.get(name),
        (text) => {
          const cached = unsealed(text)
          if (isCachedValues(cached) && now - cached.time < MAX_AGE_MS) use(cached)
          else if (text) attempt(() => store.remove(name))
        },
      )
    },
    async save(contextText, values) {
      try {
        const [name, index] = [nameOf(contextText), nameOf('')]
        await store.set(name, sealed(values))
        const known = unsealed(await store.get(index))
        const others = Array.isArray(known) ? known.filter((each) => each !== name) : []
        for (const old of others.splice(MAX_CONTEXTS - 1)) await store.remove(old)
        await store.set(index, sealed([name, ...others]))
        note()
      } catch (error) {
        note(error)
      }
    },
  }
}

/** Passes a value or the result of a promise to `next`. Ignores errors. */
function attempt(action: () => unknown, next: (value: unknown) => void = () => {}): void {
  try {
    const value = action()
    if (isObject(value))
      Promise.resolve(value)
        .then(next)
        .catch(() => {})
    else next(value)
  } catch {
    // A store that throws is an empty store.
  }
}

function sealed(value: unknown): string {
  return JSON.stringify([textHash(JSON.stringify(value)), value])
}

/** Returns the value of a cached text; `undefined` if the text is damaged. */
function unsealed(text: unknown): unknown {
  const parts = jsonIn(text)
  const [hash, value]: readonly unknown[] = Array.isArray(parts) ? parts : []
  return value && textHash(JSON.stringify(value)) === hash ? value : undefined
}

function isCachedValues(value: unknown): value is CachedValues {
  return isObject(value) && isObject(value['flags']) && isVersion(value['version'])
}

/** Creates a cache in the `localStorage` of a browser. */
export function localStorageCache(): FlagCache {
  const texts = () =>
    (globalThis as unknown as { localStorage: Record<string, string> }).localStorage
  return {
    get: (name) => texts()[name],
    set(name, text) {
      texts()[name] = text
    },
    remove: (name) => delete texts()[name],
  }
}

/** Creates a cache in memory. Clients that share it find the values of each other. */
export function memoryCache(): FlagCache {
  const texts = new Map<string, string>()
  return Object.assign(texts, { remove: texts.delete })
}
