import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { TimeSlice } from '../runtime/time-slice.ts'

/** A request for an upgrade, as Node's `upgrade` event has it. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** Handles upgrades in their order and in time slices, so that many of them delay nothing else. */
export class UpgradeQueue {
  readonly #handle: (upgrade: Upgrade) => void
  readonly #queue: Upgrade[] = []

  constructor(handle: (upgrade: Upgrade) => void) {
    this.#handle = handle
  }

  /** How many upgrades are queued. */
  get size(): number {
    return this.#queue.length
  }

  add(upgrade: Upgrade): void {
    // Until it is handled, no other listener exists for an error, which would end the process.
    upgrade.socket.on('error', ignore)
    this.#queue.push(upgrade)
    if (this.#queue.length === 1) setImmediate(() => this.#work())
  }

  #work(): void {
    const slice = new TimeSlice()
    while (this.#queue.length > 0 && slice.take()) {
      const upgrade = this.#queue.shift()
      if (upgrade === undefined) break
      this.#handle(upgrade)
      upgrade.socket.off('error', ignore)
    }
    if (this.#queue.length > 0) setImmediate(() => this.#work())
  }
}

function ignore(): void {}
