import type {
  ChangeFeed,
  ChangeListener,
  FlagSetChange,
  Resync,
  Unsubscribe,
} from '../ports/change-feed.ts'

/** Tells the listeners of this process, all of them before `publish` resolves. */
export class MemoryChangeFeed implements ChangeFeed {
  readonly #subscriptions = new Set<{ readonly listener: ChangeListener }>()

  async publish(change: FlagSetChange): Promise<void> {
    this.tell(change)
  }

  /** What `publish` tells, and what only feeds themselves say. */
  tell(change: FlagSetChange | Resync): void {
    for (const { listener } of [...this.#subscriptions]) tell(listener, change)
  }

  async subscribe(listener: ChangeListener): Promise<Unsubscribe> {
    const subscription = { listener }
    this.#subscriptions.add(subscription)
    return () => {
      this.#subscriptions.delete(subscription)
    }
  }
}

function tell(listener: ChangeListener, change: FlagSetChange | Resync): void {
  try {
    listener(change)
  } catch {
    // Thrown on, it would reach the publisher and the other listeners, whose fault it is not.
  }
}
