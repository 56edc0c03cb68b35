import type { FlagError } from '@ff/core'
import { overloaded, spreadSeconds } from '../access/connection-throttle.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { MAX_PENDING_SOCKETS } from '../runtime/memory-bounds.ts'
import { forEachInTimeSlices, inNextTurn } from '../runtime/time-slice.ts'
import { type Ranked, Ranking } from './ranking.ts'

/** A socket without a valid `init`. */
export interface PendingSocket {
  /** Closes the socket with an error. It has already been removed from the pending sockets. */
  refuse(error: unknown): void
}

/**
 * The pending sockets of one network address, the oldest first. Groups are ranked by their size.
 */
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
  /** The limit for one network address. */
  readonly perAddress: number
  /** The limit for all addresses together. The default is `MAX_PENDING_SOCKETS`. */
  readonly total?: number
}

/**
 * Limits the number of sockets that have not sent a valid `init`. A new socket is always accepted.
 * Beyond the limit of its address, the oldest socket of that address is displaced. Beyond the total
 * limit, the oldest socket of the address with the most sockets is displaced.
 */
export class PendingSockets {
  readonly #perAddress: number
  readonly #total: number
  readonly #byAddress = new Map<string | undefined, Group>()
  readonly #groups = new Map<PendingSocket, Group>()
  readonly #ranking = new Ranking<Group>()
  /**
   * The groups that may exceed the limit of an address. If there are any, displacement is
   * scheduled.
   */
  readonly #crowded = new Set<Group>()
  #displaced = 0

  constructor({ perAddress, total = MAX_PENDING_SOCKETS }: PendingSocketsOptions) {
    this.#perAddress = perAddress
    this.#total = total
  }

  /** The number of pending sockets. */
  get size(): number {
    return this.#groups.size
  }

  /** The number of sockets that were displaced so far. */
  get displaced(): number {
    return this.#displaced
  }

  /** Adds a socket. All sockets with an unknown address count as sockets of one address. */
  add(socket: PendingSocket, address: string | undefined): void {
    const group = getOrInsert(this.#byAddress, address, () => new Group(address))
    this.#groups.set(socket, group)
    group.sockets.add(socket)
    this.#ranking.set(group, group.sockets.size)
    const { largest } = this.#ranking
    if (this.size > this.#total && largest !== undefined) this.#displaceOldest(largest)
    if (group.amount > this.#perAddress) this.#sweepSoon(group)
  }

  /** Removes a socket. Does nothing if the socket is not pending. */
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
   * Schedules the displacement of the oldest sockets of a group. Data that has already arrived is
   * read first, because after many upgrades it often contains the `init` of valid clients.
   */
  #sweepSoon(group: Group): void {
    const isSwept = this.#crowded.size > 0
    this.#crowded.add(group)
    if (!isSwept) inNextTurn(() => void this.#sweep())
  }

  #sweep(): Promise<void> {
    return forEachInTimeSlices(this.#excess(), (group) => {
      // Some sockets may have been removed since the end of the last time slice.
      if (group.amount > this.#perAddress) this.#displaceOldest(group)
    })
  }

  /** Yields a crowded group one time for each socket of the group that must be displaced. */
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

/** The period over which displaced clients reconnect at random times. */
const DISPLACED_SPREAD_SECONDS = 10

/** Creates the error for the client of a displaced socket. */
function displaced(): FlagError {
  const message = 'Too many sockets have not sent a valid init; connect again later.'
  return overloaded(message, spreadSeconds(DISPLACED_SPREAD_SECONDS))
}
