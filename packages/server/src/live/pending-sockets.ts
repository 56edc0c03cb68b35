import { forEachInTimeSlices, inNextTurn } from '../runtime/time-slice.ts'

/** A socket without a valid `init`, as far as the limit on such sockets needs it. */
export interface PendingSocket {
  /** Closes the socket in favour of a newer one. It is no longer pending when this is called. */
  displace(): void
}

/** The pending sockets of one network address, the oldest first. */
type Group = Set<PendingSocket>

interface PendingSocketsOptions {
  readonly perAddress: number
  /** The limit for all addresses together; `MAX_PENDING_SOCKETS` by default. */
  readonly total?: number
}

/** How many sockets of a process may be without a valid `init`. */
const MAX_PENDING_SOCKETS = 4096

/**
 * Bounds the sockets that have not sent a valid `init`. A new socket is always accepted. Beyond the
 * limit of its address, the oldest socket of that address is displaced; beyond the limit of all, the
 * oldest socket of the address with the most.
 */
export class PendingSockets {
  readonly #perAddress: number
  readonly #total: number
  readonly #byAddress = new Map<string | undefined, Group>()
  readonly #addresses = new Map<PendingSocket, string | undefined>()
  /** The groups by how many sockets they have, so that the largest is found at once. */
  readonly #bySize = new Map<number, Set<Group>>()
  #largest = 0
  /** The groups that may be beyond the limit of an address; a sweep is due while there are any. */
  readonly #crowded = new Set<Group>()
  #displaced = 0

  constructor({ perAddress, total = MAX_PENDING_SOCKETS }: PendingSocketsOptions) {
    this.#perAddress = perAddress
    this.#total = total
  }

  /** How many sockets are pending. */
  get size(): number {
    return this.#addresses.size
  }

  /** How many sockets were displaced so far. */
  get displaced(): number {
    return this.#displaced
  }

  /** Sockets of an unknown address count as those of one address. */
  add(socket: PendingSocket, address: string | undefined): void {
    const group = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, group)
    this.#addresses.set(socket, address)
    group.add(socket)
    this.#resize(group, group.size - 1)
    if (this.size > this.#total) this.#displaceOldest(this.#largestGroup())
    if (group.size > this.#perAddress) this.#sweepSoon(group)
  }

  /** Without effect if the socket is not pending. */
  remove(socket: PendingSocket): void {
    const address = this.#addresses.get(socket)
    const group = this.#byAddress.get(address)
    if (group === undefined || !group.delete(socket)) return
    this.#addresses.delete(socket)
    this.#resize(group, group.size + 1)
    if (group.size === 0) this.#byAddress.delete(address)
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
      if (group.size > this.#perAddress) this.#displaceOldest(group)
    })
  }

  /** Each crowded group as often as a socket of it is to be displaced. */
  *#excess(): Iterable<Group> {
    for (const group of this.#crowded) {
      while (group.size > this.#perAddress) yield group
      this.#crowded.delete(group)
    }
  }

  #displaceOldest(group: Group): void {
    for (const oldest of group) {
      this.#displaced += 1
      this.remove(oldest)
      oldest.displace()
      return
    }
  }

  #largestGroup(): Group {
    for (const group of this.#bySize.get(this.#largest) ?? []) return group
    return new Set()
  }

  #resize(group: Group, before: number): void {
    const { size } = group
    const old = this.#bySize.get(before)
    old?.delete(group)
    if (old?.size === 0) this.#bySize.delete(before)
    if (size > 0) {
      const groups = this.#bySize.get(size) ?? new Set()
      this.#bySize.set(size, groups.add(group))
    }
    if (size > this.#largest) this.#largest = size
    else if (!this.#bySize.has(this.#largest)) this.#largest = size
  }
}
