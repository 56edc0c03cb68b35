import { forEachInTimeSlices } from '../runtime/time-slice.ts'
import type { Upgrade } from './declined-upgrade.ts'

/**
 * Handles upgrades in order of arrival and in time slices, so that a large number of them does not
 * block the event loop.
 */
export class UpgradeQueue {
  readonly #handle: (upgrade: Upgrade) => void
  /** The queued upgrades in order of arrival. */
  readonly #queue = new Set<Upgrade>()

  constructor(handle: (upgrade: Upgrade) => void) {
    this.#handle = handle
  }

  /** The number of queued upgrades. */
  get size(): number {
    return this.#queue.size
  }

  /** Queues an upgrade. */
  add(upgrade: Upgrade): void {
    // Before the upgrade is handled, the socket has no other error listener. An unhandled error
    // would end the process.
    upgrade.socket.on('error', ignore)
    this.#queue.add(upgrade)
    if (this.#queue.size === 1) setImmediate(() => this.#handleAll())
  }

  #handleAll(): void {
    void forEachInTimeSlices(this.#queue, (upgrade) => {
      this.#queue.delete(upgrade)
      this.#handle(upgrade)
      upgrade.socket.off('error', ignore)
    })
  }
}

function ignore(): void {}
