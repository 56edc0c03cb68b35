import type { FlagError } from '@ff/core'
import { overloaded, spreadSeconds } from '../access/connection-throttle.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { MAX_PENDING_SOCKETS } from '../runtime/memory-bounds.ts'
import { forEachInTimeSlices, inNextTurn } from '../runtime/time-slice.ts'
import { type Ranked, Ranking } from './ranking.ts'

/** A socket without a valid `init`, as far as the limit on such sockets needs it. */
export interface PendingSocket {
  /** Closes the socket with an error. It is no longer pending when this is called. */
  refuse(error: unknown): void
}

/** The pending sockets of one network address, the oldest first; ranked by their number. */
class Group implements Ranked {
  amount = 0
  rank = -1
  readonly address: string | undefined
  readonly sockets = new Set<PendingSocket>()

  constructor(address: string | undefined) {
    this.address = address
  }
}

interface PendingSocketsOptions {
  readonly perAddress: number
  /** The limit for all addresses together; `MAX_PENDING_SOCKETS` by default. */
  readonly total?: number
}

/**
 * Bounds the sockets that have not sent a valid `init`. A new socket is always accepted. Beyond the
 * limit of its address, the oldest socket of that address is displaced; beyond the limit of all, the
 * oldest socket of the address with the most.
 */
export class PendingSockets {
  readonly #perAddress: number
  readonly #total: number
  readonly #byAddress = new Map<string | undefined, Group>()
  readonly #groups = new Map<PendingSocket, Group>()
  readonly #ranking = new Ranking<Group>()
  /** The groups that may be beyond the limit of an address; a sweep is due while there are any. */
  readonly #crowded = new Set<Group>()
  #displaced = 0

  constructor({ perAddress, total = MAX_PENDING_SOCKETS }: PendingSocketsOptions) {
    this.#perAddress = perAddress
    this.#total = total
  }

  /** How many sockets are pending. */
  get size(): number {
    return this.#groups.size
  }

  /** How many sockets were displaced so far. */
  get displaced(): number {
    return this.#displaced
  }

  /** Sockets of an unknown address count as those of one address. */
  add(socket: PendingSocket, address: string | undefined): void {
    const group = getOrInsert(this.#byAddress, address, () => new Group(address))
    this.#groups.set(socket, group)
    group.sockets.add(socket)
    this.#ranking.set(group, group.sockets.size)
    const { largest } = this.#ranking
    if (this.size > this.#total && largest !== undefined) this.#displaceOldest(largest)
    if (group.amount > this.#perAddress) this.#sweepSoon(group)
  }

  /** Without effect if the socket is not pending. */
  remove(socket: PendingSocket): void {
    const group = this.#groups.get(socket)
    if (group === undefined) return
    this.#groups.delete(socket)
    group.sockets.delete(socket)
    if (group.sockets.size > 0) this.#ranking.set(group, group.sockets.size)
    else {
      this.#ranking.remove(group)
      this.#byAddress.delete(group.address)
      group.amount = 0
    }
  }

  /**
   * Displaces sockets of one address after the data that has arrived meanwhile is read: the `init` of
   * a client is often among it, behind a crowd of upgrades.
   */
  #sweepSoon(group: Group): void {
    const isSwept = this.#crowded.size > 0
    this.#crowded.add(group)
    if (!isSwept) inNextTurn(() => void this.#sweep())
  }

  #sweep(): Promise<void> {
    return forEachInTimeSlices(this.#excess(), (group) => {
      // Some of its sockets may have left since the end of the last time slice.
      if (group.amount > this.#perAddress) this.#displaceOldest(group)
    })
  }

  /** Each crowded group as often as a socket of it is to be displaced. */
  *#excess(): Iterable<Group> {
    for (const group of this.#crowded) {
      while (group.amount > this.#perAddress) yield group
      this.#crowded.delete(group)
    }
  }

  #displaceOldest(group: Group): void {
    const [oldest] = group.sockets
    if (oldest === undefined) return
    this.#displaced += 1
    this.remove(oldest)
    oldest.refuse(displaced())
  }
}

/** Displaced clients connect again at random times within this period. */
const DISPLACED_SPREAD_SECONDS = 10

/** The refusal of a client whose socket had no valid `init` when there were too many of these. */
function displaced(): FlagError {
  const message = 'Too many sockets have not sent a valid init; connect again later.'
  return overloaded(message, spreadSeconds(DISPLACED_SPREAD_SECONDS))
}
