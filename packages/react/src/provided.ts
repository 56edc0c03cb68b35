import {
  type ConnectionState,
  createFlagClient,
  type FlagClient,
  type FlagClientOptions,
} from '@ff/client'
import type { FlagTypes } from '@ff/core/flag-types'

/** What a provider gives to the hooks. */
export interface Provided<Values> {
  readonly client: FlagClient<Values>
  /** Returns the client that a server and the first render of its page read. It never connects. */
  readonly first: () => FlagClient<Values>
  readonly wait: Wait
}

/** The time in which hooks may suspend, in epoch milliseconds. */
export interface Wait {
  readonly until: number
}

/** The longest suspension of a tree, counted from the first render of its provider. */
const SUSPEND_MS = 2000
/** The states of a client that can still receive its first values. */
const STARTING: readonly ConnectionState[] = ['idle', 'connecting', 'waiting']

/** Creates a client that is not connected. Without options, it can never connect. */
export function createIdleClient<Values>(
  options: Partial<FlagClientOptions<Values>>,
): FlagClient<Values> {
  return createFlagClient({ url: 'http://idle', sdkKey: 'idle', ...options, connect: false })
}

/** The console, which some platforms do not have. */
const { console } = globalThis as { console?: { warn(message: string): void } }

const OUTSIDE =
  'A hook of @ff/react is used outside of its FlagsProvider, so that flags have their fallbacks.'

/** Returns what hooks outside of a provider use, and writes a warning. */
export function provideOutside<Values>(flags: Pick<FlagTypes<Values>, 'types'>): Provided<Values> {
  console?.warn(OUTSIDE)
  const client = createIdleClient({ flags })
  return { client, first: () => client, wait: { until: 0 } }
}

/**
 * The waits of providers. React discards the state of a provider that has not been mounted each time
 * when a component in it suspends. So such providers share a wait until one of them is mounted.
 */
export class Waits {
  #unmounted: Wait | undefined
  /** The clients for which no component has to wait any more. */
  readonly #settled = new WeakSet<object>()

  /** Returns the wait of a provider that is rendered for the first time. */
  begin(): Wait {
    const now = Date.now()
    const { until = 0 } = this.#unmounted ?? {}
    // An older wait belongs to a tree that was never mounted and is not rendered any more.
    if (now > until + SUSPEND_MS) this.#unmounted = { until: now + SUSPEND_MS }
    return this.#unmounted as Wait
  }

  /** Notes that the provider of a wait is mounted. */
  mounted(wait: Wait): void {
    if (this.#unmounted === wait) this.#unmounted = undefined
  }

  /** Throws a promise, on which React waits, if the client can still receive its first values. */
  suspend<Values>({ client, wait }: Provided<Values>): void {
    const timeoutMs = wait.until - Date.now()
    if (timeoutMs <= 0 || client.status.source !== 'fallback' || this.#settled.has(client)) return
    // React 18 has no `use`. The promise never rejects.
    throw client.ready({ timeoutMs }).then(() => {
      const { connection, failure } = client.status
      // In Strict Mode, the client is closed and connected again when its provider is mounted.
      const isStarting = STARTING.includes(connection) && failure !== 'refused'
      if (!isStarting) this.#settled.add(client)
    })
  }
}
