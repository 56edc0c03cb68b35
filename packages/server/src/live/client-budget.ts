import type { FlagError } from '@ff/core'
import { overloaded, spreadSeconds } from '../access/connection-throttle.ts'
import type { EnvironmentScope } from '../access/scope.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { type Ranked, Ranking } from './ranking.ts'

/** The limited measures: the number of live clients, and the bytes of their contexts. */
const MEASURES = ['clients', 'bytes'] as const
type Measure = (typeof MEASURES)[number]
type Amounts = Readonly<Record<Measure, number>>

/** The SDK key and the organization that are charged for a client. */
type Owner = Pick<EnvironmentScope, 'keyId' | 'organizationId'>

/** The shares of the bytes that one SDK key and one organization may use. */
const KEY_SHARE = 1 / 4
const ORGANIZATION_SHARE = 1 / 2

/** A live client that can be ended to make room for another one. */
export interface BudgetClient {
  /** Ends the client. Its reservation has already been released. */
  end(reason: 'gaveWay'): void
}

/** The reservation of one live client in a `ClientBudget`. */
export interface Reservation extends Ranked {
  readonly key: Account
  readonly client: BudgetClient
}

/** The amount of one measure that an account uses. */
class Holding implements Ranked {
  amount = 0
  rank = -1
  readonly account: Account

  constructor(account: Account) {
    this.account = account
  }
}

/** The usage of an SDK key, an organization or the whole server. */
class Account {
  readonly id: string
  /**
   * The account of the SDK key's organization, or of the whole server for an organization;
   * `undefined` for the server.
   */
  readonly parent: Account | undefined
  readonly clients = new Holding(this)
  readonly bytes = new Holding(this)
  readonly children = new Map<string, Account>()
  readonly ranked = { clients: new Ranking<Holding>(), bytes: new Ranking<Holding>() }
  /** The clients of an SDK key, ranked by the bytes of their contexts. */
  readonly reservations = new Ranking<Reservation>()

  constructor(id: string, parent?: Account) {
    this.id = id
    this.parent = parent
  }

  /**
   * Returns the client that is ended first: the one with the largest context, of the key with the
   * largest usage.
   */
  firstToGiveWay(measure: Measure): Reservation | undefined {
    const { largest } = this.ranked[measure]
    return largest?.account.firstToGiveWay(measure) ?? this.reservations.largest
  }
}

/**
 * Limits the number of live clients and the memory of their contexts. If there is no room for a new
 * client, the budget ends clients of the organization with the largest usage, and of these first
 * the clients of the SDK key with the largest usage. If the new client's organization would reach
 * the largest usage, clients of that organization's largest SDK key are ended instead. If the new
 * client's key would reach the usage of that largest key, the new client is refused. An SDK key can
 * use at most a quarter of the bytes, and an organization half, even if there is room.
 *
 * Every client is charged for its context, although equal contexts are stored only once. The charge
 * of a client therefore does not depend on other clients. The duration of each call grows with the
 * logarithm of the number of organizations, keys and clients, and with the number of clients that
 * it ends.
 */
export class ClientBudget {
  readonly #limits: Amounts
  readonly #total = new Account('')
  #gaveWay = 0

  /** `limits` applies to all live clients together. */
  constructor(limits: Amounts) {
    this.#limits = limits
  }

  /** The bytes of memory that are charged for all contexts. */
  get heldBytes(): number {
    return this.#total.bytes.amount
  }

  /** The number of clients that were ended to make room for others. */
  get gaveWay(): number {
    return this.#gaveWay
  }

  /**
   * Adds a client with a context of `bytes`. Throws `RATE_LIMITED`, with `seconds` in its details,
   * if there is no room.
   */
  reserve(scope: EnvironmentScope, bytes: number, client: BudgetClient): Reservation {
    this.#makeRoom(scope, { clients: 1, bytes })
    const key = this.#keyOf(scope)
    const reservation = { key, client, amount: 0, rank: -1 }
    this.#charge(key, { clients: 1, bytes })
    key.reservations.set(reservation, bytes)
    return reservation
  }

  /**
   * Changes the bytes of a client's context. If there is no room, throws as `reserve` does and
   * keeps the old charge. Does nothing after `release`.
   */
  change(reservation: Reservation, bytes: number): void {
    const { key, amount } = reservation
    if (!isHeld(reservation)) return
    const demand = { clients: 0, bytes: bytes - amount }
    const owner = { keyId: key.id, organizationId: key.parent?.id ?? '' }
    if (bytes > amount) this.#makeRoom(owner, demand)
    this.#charge(key, demand)
    key.reservations.set(reservation, bytes)
  }

  /** Removes a client. Does nothing if the client was already removed. */
  release(reservation: Reservation): void {
    if (!isHeld(reservation)) return
    const { key, amount } = reservation
    key.reservations.remove(reservation)
    this.#charge(key, { clients: -1, bytes: -amount })
    this.#forget(key)
  }

  /**
   * Ends clients until there is room for `demand`. Throws `RATE_LIMITED`, without ending any
   * client, if no room can be made.
   */
  #makeRoom(owner: Owner, demand: Amounts): void {
    this.#assertWithinShares(owner, demand)
    const yielding = MEASURES.filter((measure) => this.#lack(measure, demand) > 0).map(
      (measure) => ({ measure, account: this.#accountToGiveWay(measure, owner, demand[measure]) }),
    )
    for (const { measure, account } of yielding) {
      while (this.#lack(measure, demand) > 0) {
        const first = account.firstToGiveWay(measure)
        if (first === undefined) break
        this.release(first)
        this.#gaveWay += 1
        first.client.end('gaveWay')
      }
    }
  }

  #lack(measure: Measure, demand: Amounts): number {
    return this.#total[measure].amount + demand[measure] - this.#limits[measure]
  }

  #assertWithinShares({ keyId, organizationId }: Owner, { bytes }: Amounts): void {
    const organization = this.#total.children.get(organizationId)
    const ofKey = organization?.children.get(keyId)?.bytes.amount ?? 0
    const ofOrganization = organization?.bytes.amount ?? 0
    const limit = this.#limits.bytes
    if (ofKey + bytes > limit * KEY_SHARE)
      throw noRoom('The live clients of this SDK key use its whole share of context memory')
    if (ofOrganization + bytes > limit * ORGANIZATION_SHARE) {
      throw noRoom('The live clients of this organization use its whole share of context memory')
    }
  }

  /**
   * Returns the account with clients to end. This account uses more than `demand`, so that ending
   * its clients always creates enough room. It also uses more than the new client's account will
   * use, so that the two accounts do not displace each other in turns. Throws `RATE_LIMITED` if
   * there is no such account.
   */
  #accountToGiveWay(measure: Measure, owner: Owner, demand: number): Account {
    let parent: Account | undefined = this.#total
    for (const id of [owner.organizationId, owner.keyId]) {
      const largest: Holding | undefined = parent?.ranked[measure].largest
      const own: Account | undefined = parent?.children.get(id)
      const amount = (own?.[measure].amount ?? 0) + demand
      if (largest !== undefined && amount < largest.amount) return largest.account
      parent = own
    }
    throw noRoom(FULL[measure])
  }

  #charge(key: Account, more: Amounts): void {
    for (let account: Account | undefined = key; account; account = account.parent) {
      for (const measure of MEASURES) {
        const holding = account[measure]
        const amount = holding.amount + more[measure]
        if (account.parent === undefined) holding.amount = amount
        else account.parent.ranked[measure].set(holding, amount)
      }
    }
  }

  #keyOf({ keyId, organizationId }: Owner): Account {
    return childOf(childOf(this.#total, organizationId), keyId)
  }

  /** Removes an account without clients, and its parent if that has no clients either. */
  #forget(account: Account): void {
    const { id, parent } = account
    if (parent === undefined || account.clients.amount > 0) return
    parent.children.delete(id)
    for (const measure of MEASURES) parent.ranked[measure].remove(account[measure])
    this.#forget(parent)
  }
}

function childOf(parent: Account, id: string): Account {
  return getOrInsert(parent.children, id, () => new Account(id, parent))
}

const FULL = {
  clients: 'The server has reached its limit of live clients',
  bytes: 'The server has reached its limit of memory for contexts',
} as const satisfies Record<Measure, string>

function isHeld({ rank }: Reservation): boolean {
  return rank !== -1
}

/** Creates the `RATE_LIMITED` error for a client without room. */
function noRoom(reason: string): FlagError {
  const seconds = spreadSeconds()
  return overloaded(`${reason}; try again in ${seconds} seconds.`, seconds)
}

/** Creates the `RATE_LIMITED` error for a client that was ended to make room for others. */
export function gaveWay(): FlagError {
  return noRoom('The server has ended this client to make room for others')
}
