import type { FlagError } from '@ff/core'
import { overloaded, spreadSeconds } from '../access/connection-throttle.ts'
import type { EnvironmentScope } from '../access/sdk-keys.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { type Ranked, Ranking } from './ranking.ts'

/** What is limited: each live client counts as one client, and its context takes bytes. */
const MEASURES = ['clients', 'bytes'] as const
type Measure = (typeof MEASURES)[number]
type Amounts = Readonly<Record<Measure, number>>

/** The SDK key and the organization that a client is charged to. */
type Owner = Pick<EnvironmentScope, 'keyId' | 'organizationId'>

/** The shares of the bytes that one SDK key and one organization may hold. */
const KEY_SHARE = 1 / 4
const ORGANIZATION_SHARE = 1 / 2

/** A live client that can be ended so that another finds room. */
export interface BudgetClient {
  end(reason: 'gaveWay'): void
}

/** The place of one live client in a `ClientBudget`. */
export interface Reservation extends Ranked {
  readonly key: Account
  readonly client: BudgetClient
}

/** How much of a measure an account holds. */
class Holding implements Ranked {
  amount = 0
  rank = -1
  readonly account: Account

  constructor(account: Account) {
    this.account = account
  }
}

/** What an SDK key, an organization or the server as a whole holds. */
class Account {
  readonly id: string
  /** The organization of an SDK key, the server of an organization. */
  readonly parent: Account | undefined
  readonly clients = new Holding(this)
  readonly bytes = new Holding(this)
  readonly children = new Map<string, Account>()
  readonly ranked = { clients: new Ranking<Holding>(), bytes: new Ranking<Holding>() }
  /** The clients of an SDK key, by the bytes of their contexts. */
  readonly reservations = new Ranking<Reservation>()

  constructor(id: string, parent?: Account) {
    this.id = id
    this.parent = parent
  }

  /** The client that gives way first: of the key that holds most, the one with the largest context. */
  firstToGiveWay(measure: Measure): Reservation | undefined {
    const { largest } = this.ranked[measure]
    return largest?.account.firstToGiveWay(measure) ?? this.reservations.largest
  }
}

/**
 * Limits how many live clients there are and how much memory their contexts take. If there is no
 * room for a new client, clients of the organization that holds most give way: they are ended,
 * those of its SDK key that holds most first. If the organization of the new client would then hold
 * as much, clients of its own SDK key that holds most give way; if the key of the new client would
 * then hold as much, the new client is refused. Of the bytes, an SDK key holds at most a quarter
 * and an organization half, also if there is room.
 *
 * Every client is charged for its context, although equal contexts are kept once: what it is charged
 * does not depend on others. Each call takes a time that grows with the logarithm of the number of
 * organizations, keys and clients, and with the number of clients that it ends.
 */
export class ClientBudget {
  readonly #limits: Amounts
  readonly #total = new Account('')
  #gaveWay = 0

  /** The most that all live clients together may take. */
  constructor(limits: Amounts) {
    this.#limits = limits
  }

  /** Bytes of memory for which all contexts together are charged. */
  get heldBytes(): number {
    return this.#total.bytes.amount
  }

  /** How many clients were ended to make room for others. */
  get gaveWay(): number {
    return this.#gaveWay
  }

  /** Throws `RATE_LIMITED` with `seconds` in its details if there is no room for the client. */
  reserve(scope: EnvironmentScope, bytes: number, client: BudgetClient): Reservation {
    this.#makeRoom(scope, { clients: 1, bytes })
    const key = this.#keyOf(scope)
    const reservation = { key, client, amount: 0, rank: -1 }
    this.#charge(key, { clients: 1, bytes })
    key.reservations.set(reservation, bytes)
    return reservation
  }

  /**
   * The client has another context. Throws as `reserve` does if there is no room for it; the
   * reservation then stays as it was. Does nothing after `release`.
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

  /** The client is gone, or holds nothing any more; a second call does nothing. */
  release(reservation: Reservation): void {
    if (!isHeld(reservation)) return
    const { key, amount } = reservation
    key.reservations.remove(reservation)
    this.#charge(key, { clients: -1, bytes: -amount })
    this.#forget(key)
  }

  /** Nothing is ended unless there is room for the demand afterwards. */
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
      throw noRoom('The contexts held for this SDK key have reached its share')
    if (ofOrganization + bytes > limit * ORGANIZATION_SHARE) {
      throw noRoom('The contexts held for this organization have reached its share')
    }
  }

  /**
   * The account whose clients give way. It holds more than the demand, so that ending its clients
   * always makes enough room; and it holds more than the new client's account will, so that the
   * two do not displace each other in turns.
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

  /** Removes an account without clients, and then perhaps the one above it. */
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
  clients: 'The server has as many live clients as it may',
  bytes: 'The server holds as many contexts as it may',
} as const satisfies Record<Measure, string>

function isHeld({ rank }: Reservation): boolean {
  return rank !== -1
}

/** The refusal of a client for which there is no room. */
function noRoom(reason: string): FlagError {
  const seconds = spreadSeconds()
  return overloaded(`${reason}; try again in ${seconds} seconds.`, seconds)
}

/** The error for a client that was ended to make room for others. */
export function gaveWay(): FlagError {
  return noRoom('The server has ended this client to make room for others')
}
