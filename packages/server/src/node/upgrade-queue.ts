import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { TimeSlice } from '../runtime/time-slice.ts'

/** A request for an upgrade, as Node's `upgrade` event has it. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** Handles upgrades in their order and in time slices, so that a crowd of them delays nothing else. */
export class UpgradeQueue {
  readonly #handle: (upgrade: Upgrade) => void
  readonly #waiting: Upgrade[] = []

  constructor(handle: (upgrade: Upgrade) => void) {
    this.#handle = handle
  }

  /** How many upgrades wait. */
  get size(): number {
    return this.#waiting.length
  }

  add(upgrade: Upgrade): void {
    // While it waits, no other listener is there for an error, which would end the process.
    upgrade.socket.on('error', ignore)
    this.#waiting.push(upgrade)
    if (this.#waiting.length === 1) setImmediate(() => this.#work())
  }

  #work(): void {
    const slice = new TimeSlice()
    while (this.#waiting.length > 0 && slice.take()) {
      const upgrade = this.#waiting.shift()
      if (upgrade === undefined) break
      this.#handle(upgrade)
      upgrade.socket.off('error', ignore)
    }
    if (this.#waiting.length > 0) setImmediate(() => this.#work())
  }
}

function ignore(): void {}
