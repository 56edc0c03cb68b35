import { MemoryChangeFeed } from '../memory/memory-change-feed.ts'
import type {
  ChangeFeed,
  ChangeListener,
  FlagSetChange,
  Resync,
  Unsubscribe,
} from '../ports/change-feed.ts'
import { RedisConnection } from './redis-connection.ts'
import type { RedisSettings } from './redis-settings.ts'

/** The parts of a change feed. */
interface RedisChangeFeedOptions {
  readonly settings: RedisSettings
  /** The connection that publishes. */
  readonly commands: RedisConnection
  /** Called when the connection that subscribes becomes unavailable, and when it is available. */
  readonly onStatus: ConstructorParameters<typeof RedisConnection>[0]['onStatus']
}

/**
 * A change feed over pub/sub. One connection subscribes as soon as there is a listener. `subscribe`
 * does not wait for it: whenever it has been opened, also again after it was lost, the listeners
 * receive `resync`. While Redis is known to be unavailable, `publish` has no effect.
 */
export class RedisChangeFeed implements ChangeFeed {
  readonly #options: RedisChangeFeedOptions
  readonly #listeners = new MemoryChangeFeed()
  readonly #subscriber: RedisConnection
  readonly #channel: string

  constructor(options: RedisChangeFeedOptions) {
    const { settings, onStatus } = options
    this.#options = options
    this.#channel = `${settings.prefix}:change`
    this.#subscriber = new RedisConnection({
      settings,
      // A repeated subscription has no effect.
      check: (client) => client.subscribe(this.#channel),
      onStatus: (unavailable) => {
        onStatus(unavailable)
        if (unavailable === undefined) this.#listeners.notify({ type: 'resync' })
      },
    })
    this.#subscriber.client.on('message', (_channel, text) => {
      this.#listeners.notify(changeIn(text))
    })
  }

  async publish(change: FlagSetChange): Promise<void> {
    const { commands } = this.#options
    // The reason has been reported once; an error for each change would repeat it.
    if (!(await commands.isAvailable())) return
    await commands.run((client) => client.publish(this.#channel, JSON.stringify(change)))
  }

  async subscribe(listener: ChangeListener): Promise<Unsubscribe> {
    void this.#subscriber.open()
    // The first request must not wait for a connection either.
    void this.#options.commands.open()
    return this.#listeners.subscribe(listener)
  }

  /** Closes the connection that subscribes. */
  close(): void {
    this.#subscriber.close()
  }
}

/** Returns the change of a message; `resync` if another program has sent it. */
function changeIn(text: string): FlagSetChange | Resync {
  try {
    const change: unknown = JSON.parse(text)
    if (typeof change === 'object' && change !== null && 'type' in change) {
      return change as FlagSetChange
    }
  } catch {
    // The text is not JSON.
  }
  return { type: 'resync' }
}
