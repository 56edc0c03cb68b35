import { bool, defineFlags, json, number, oneOf, text } from '@ff/core/flag-types'
import {
  createFlagClient,
  type FlagClient,
  type FlagClientOptions,
  type Lifecycle,
} from '../src/index.ts'
import { FakeServer } from './fake-server.ts'
import { FakeTime, seededRandom } from './fake-time.ts'

/** The flags of the tests. */
export const flags = defineFlags({
  'new-checkout': bool(false),
  theme: oneOf('fallback', 'light', 'dark', 'red'),
  whoami: text('nobody'),
  limit: number(-1),
  layout: json<{ readonly columns: number }>({ columns: 0 }),
})

/** The context of the tests. */
export const CONTEXT = { kind: 'user', key: 'u1' }

/** The server and the SDK key, as the cache names them. */
export const OWNER = 'http://flags.test\nff_1'

/** The values of the flags of the tests. */
export type Values = typeof flags extends { allFrom(values: never): Readonly<infer All> }
  ? All
  : never

/** The visibility and connectivity of a page. A test sets them. */
export class FakePage implements Lifecycle {
  hidden = false
  offline = false
  readonly listeners = new Set<() => void>()

  isHidden(): boolean {
    return this.hidden
  }

  isOffline(): boolean {
    return this.offline
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  /** Changes the state, and calls the listeners. */
  set(change: { readonly hidden?: boolean; readonly offline?: boolean }): void {
    Object.assign(this, change)
    for (const listener of this.listeners) listener()
  }
}

/** A client, its server and its platform. */
export interface Scene {
  readonly time: FakeTime
  readonly server: FakeServer
  readonly page: FakePage
  readonly errors: unknown[]
  readonly client: FlagClient<Values>
  /** The number of timers of the client. */
  readonly timers: number
  /** The greatest number of timers of the client at one time. */
  readonly maxTimers: number
  /** Creates another client of the same server, with its own timers. */
  another(options?: Partial<FlagClientOptions<Values>>): FlagClient<Values>
}

/** Returns a clock that counts its timers. */
export function countedClock(time: FakeTime) {
  const timers = new Set<() => void>()
  let max = 0
  return {
    now: () => time.now(),
    monotonicNow: () => time.monotonicNow(),
    schedule(delayMs: number, task: () => void) {
      const cancel = time.schedule(delayMs, () => {
        timers.delete(cancel)
        task()
      })
      timers.add(cancel)
      max = Math.max(max, timers.size)
      return () => {
        timers.delete(cancel)
        cancel()
      }
    },
    get timers() {
      return timers.size
    },
    get maxTimers() {
      return max
    },
  }
}

/** Creates a client of a fake server. */
export function createScene(
  options: Partial<FlagClientOptions<Values>> = {},
  prepare: (server: FakeServer, page: FakePage) => void = () => {},
): Scene {
  const time = new FakeTime()
  const server = new FakeServer(time)
  const page = new FakePage()
  const clock = countedClock(time)
  const errors: unknown[] = []
  const random = seededRandom(1)
  prepare(server, page)
  const create = (more: Partial<FlagClientOptions<Values>>) =>
    createFlagClient({
      url: 'http://flags.test/',
      sdkKey: 'ff_1',
      flags,
      context: CONTEXT,
      fetch: server.fetch,
      webSocket: server.webSocket,
      lifecycle: page,
      random,
      onError: (error) => errors.push(error),
      ...more,
    })
  const client = create({ clock, ...options })
  const another = (more = {}) => create({ clock: countedClock(time), ...options, ...more })
  return {
    ...{ time, server, page, errors, client, another },
    get timers() {
      return clock.timers
    },
    get maxTimers() {
      return clock.maxTimers
    },
  }
}
