import type {
  ChangeFeed,
  ChangeListener,
  FlagSetChange,
  Resync,
  Unsubscribe,
} from '../ports/change-feed.ts'

/** A change feed within one process. It notifies all listeners before `publish` resolves. */
export class MemoryChangeFeed implements ChangeFeed {
  readonly #subscriptions = new Set<{ readonly listener: ChangeListener }>()

  async publish(change: FlagSetChange): Promise<void> {
    this.notify(change)
  }

  /** Notifies all listeners of a change or a resync. */
  notify(change: FlagSetChange | Resync): void {
    for (const { listener } of [...this.#subscriptions]) notify(listener, change)
  }

  async subscribe(listener: ChangeListener): Promise<Unsubscribe> {
    const subscription = { listener }
    this.#subscriptions.add(subscription)
    return () => {
      this.#subscriptions.delete(subscription)
    }
  }
}

function notify(listener: ChangeListener, change: FlagSetChange | Resync): void {
  try {
    listener(change)
  } catch {
    // A listener's error must not reach the publisher or the other listeners.
  }
}
