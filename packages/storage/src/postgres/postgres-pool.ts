import { setTimeout as delay } from 'node:timers/promises'
import type { FlagError } from '@ff/core'
import type { Pool, PoolClient } from 'pg'
import { plain, type SqlRow, type SqlStatement } from '../sql/sql-driver.ts'
import { ConnectionSockets, createPool } from './pool-connections.ts'
import {
  connectionFailed,
  endsConnection,
  fewerConnections,
  fromPostgresError,
  isPoolBusy,
  isTooMany,
} from './postgres-errors.ts'
import type { PostgresSettings } from './postgres-settings.ts'
import { assertStorable, resultsOf, send } from './postgres-statements.ts'
import { placeOf } from './postgres-url.ts'

/** The time between a refused connection and the next attempt to open one. */
const PAUSE_MS = 100

/**
 * The maximum time that a call waits if PostgreSQL accepts no more connections and the process has
 * none. Another process can close one within this time.
 */
const WITHOUT_CONNECTIONS_MS = 1000

/** The time for which a pool opens no further connections after PostgreSQL has refused one. */
const FULL_MS = 10_000

/** An attempt to open a connection, for all calls that wait for it. */
interface Attempt {
  hasBegun: boolean
  /** Rejects if no connection was opened. */
  readonly ended: Promise<void>
}

/**
 * The connections for reading or those for writing. If one cannot be opened, all calls that need
 * another one wait for the same attempt to open one, after a pause: many attempts would load a
 * server that accepts no more connections. A call fails only because of an attempt that has begun
 * after the call.
 */
export class PostgresPool {
  readonly #pool: Pool
  readonly #settings: PostgresSettings
  readonly #sizeName: 'readConnections' | 'writeConnections'
  /** The other pool of the process, with which this one shares what PostgreSQL permits. */
  #other: PostgresPool | undefined
  /** Of both pools: `true` if the warning about too few connections was given. */
  #warning = { isGiven: false }
  /**
   * Closes a connection that the process can do without for a while. Returns `false` if there is none.
   */
  #spare: () => Promise<boolean> = async () => false
  #size = 0
  #givingUp: Promise<void> | undefined
  readonly #sockets = new ConnectionSockets()
  /** The time of the next attempt to open a connection. `undefined` if the last one succeeded. */
  #retryAt: number | undefined
  /** The present or next attempt. */
  #attempt: Attempt | undefined
  /** The number of calls of `disconnect`. */
  #disconnects = 0
  /** The times at which the connections were opened. */
  readonly #openedAt = new WeakMap<PoolClient, number>()
  /** Connections that were opened before this time are not used again. */
  #renewedAt = Number.NEGATIVE_INFINITY

  constructor(settings: PostgresSettings, sizeName: 'readConnections' | 'writeConnections') {
    this.#settings = settings
    this.#sizeName = sizeName
    this.#pool = createPool(settings, settings[sizeName], this.#sockets)
    // The pool replaces lost connections, and statements that are running on them fail.
    const ignore = () => undefined
    this.#pool.on('error', ignore)
    this.#pool.on('connect', (client) => {
      this.#openedAt.set(client, performance.now())
      this.#size += 1
      client.on('error', ignore)
    })
    this.#pool.on('remove', (client) => {
      if (this.#openedAt.delete(client)) this.#size -= 1
    })
  }

  /**
   * Closes all connections that are open now, each as soon as it is not in use. They can belong to a
   * server that is not the primary any more.
   */
  renew(): void {
    this.#renewedAt = performance.now()
  }

  /** Makes a connection free. Closes it if it cannot be used again. */
  release(client: PoolClient, isUsable = true): void {
    client.release(!isUsable || this.#isOld(client))
  }

  /** Lets two pools share the connections if PostgreSQL permits fewer than both may open. */
  static share(one: PostgresPool, other: PostgresPool): void {
    one.#other = other
    other.#other = one
    other.#warning = one.#warning
  }

  /** Sets the function that closes a connection of the process that is in neither pool. */
  spareWith(spare: () => Promise<boolean>): void {
    this.#spare = spare
  }

  /**
   * Returns a free connection, which the caller releases with `release`. Throws `UNAVAILABLE` if there
   * is none. If PostgreSQL accepts no more connections, but the process has some, waits for one of
   * them, or closes one that another part of the process uses.
   */
  async connect(): Promise<PoolClient> {
    const begunAt = performance.now()
    for (;;) {
      try {
        return await this.#connect()
      } catch (error) {
        if (!isTooMany(error)) throw error
        const hasRoom = await this.#makeRoom()
        const most = hasRoom ? this.#settings.connectTimeoutMs : WITHOUT_CONNECTIONS_MS
        if (performance.now() - begunAt >= most) throw error
      }
    }
  }

  /**
   * Prepares another attempt after PostgreSQL has refused a connection. Returns `false` if the process
   * has no connection.
   */
  async #makeRoom(): Promise<boolean> {
    const own = this.size
    const permitted = own + (this.#other?.size ?? 0)
    if (permitted === 0) return this.#spare()
    this.#warn(permitted)
    if (own > 0) this.#limit(own)
    else await this.#other?.giveUpOne()
    return true
  }

  /** The number of connections that are open, without those that are being opened. */
  get size(): number {
    return this.#size
  }

  /** Opens no more connections than these for a while, so that calls wait for one of them. */
  #limit(connections: number): void {
    const { [this.#sizeName]: most } = this.#settings
    this.#pool.options.max = connections
    setTimeout(() => {
      this.#pool.options.max = most
    }, FULL_MS).unref()
  }

  /** Closes one connection for all calls that wait for it. */
  giveUpOne(): Promise<void> {
    this.#givingUp ??= this.#closeOne().finally(() => {
      this.#givingUp = undefined
    })
    return this.#givingUp
  }

  /** Closes one connection as soon as it is free, and opens no other one for a while. */
  async #closeOne(): Promise<void> {
    const rest = this.#pool.totalCount - 1
    if (rest > 0) this.#limit(rest)
    const client = await this.#pool.connect().catch(() => undefined)
    client?.release(true)
  }

  #warn(permitted: number): void {
    if (this.#warning.isGiven) return
    this.#warning.isGiven = true
    this.#settings.onWarning(fewerConnections(this.#settings, permitted))
  }

  async #connect(): Promise<PoolClient> {
    if (this.#needsAttempt && this.#attempt?.hasBegun) {
      await this.#attempt.ended.catch(() => undefined)
    }
    if (this.#needsAttempt) {
      this.#attempt ??= this.#attemptAfterPause(this.#retryAt ?? 0)
      await this.#attempt.ended
    }
    return this.#open()
  }

  /** `true` if no connection is free and the last attempt to open one has failed. */
  get #needsAttempt(): boolean {
    return this.#retryAt !== undefined && this.#pool.idleCount === 0
  }

  /**
   * Runs statements in a transaction, all of which is sent together, and returns the rows of each.
   * `begin` is the statement that begins the transaction.
   */
  async runAll(
    begin: string,
    statements: readonly SqlStatement[],
  ): Promise<readonly (readonly SqlRow[])[]> {
    for (const statement of statements) assertStorable(statement)
    return this.#use(async (client) => {
      const all = [plain(begin), ...statements, plain('commit')]
      const [, ...results] = await resultsOf(send(client, all))
      return results.slice(0, -1).map(({ rows }) => rows)
    })
  }

  /** Runs one statement, which is a transaction of its own, and returns its rows. */
  async runAlone(statement: SqlStatement): Promise<readonly SqlRow[]> {
    assertStorable(statement)
    return this.#use(async (client) => {
      const [result] = await resultsOf(send(client, [statement]))
      return result?.rows ?? []
    })
  }

  /** Closes all connections at once. Statements that are running, and attempts to connect, fail. */
  disconnect(): void {
    this.#disconnects += 1
    this.#sockets.destroyAll()
  }

  /** Waits until all connections have been released, and closes them. */
  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #open(): Promise<PoolClient> {
    try {
      for (;;) {
        const client = await this.#pool.connect()
        this.#retryAt = undefined
        if (!this.#isOld(client)) return client
        client.release(true)
      }
    } catch (error) {
      throw this.#refuse(error)
    }
  }

  #isOld(client: PoolClient): boolean {
    return (this.#openedAt.get(client) ?? 0) < this.#renewedAt
  }

  #attemptAfterPause(time: number): Attempt {
    const begin = () => {
      attempt.hasBegun = true
    }
    const ended = this.#openAfterPause(time, begin).finally(() => {
      this.#attempt = undefined
    })
    const attempt = { hasBegun: false, ended }
    return attempt
  }

  /** Opens a connection for the calls that wait for it. Calls `begin` after the pause. */
  async #openAfterPause(time: number, begin: () => void): Promise<void> {
    const disconnects = this.#disconnects
    await delay(time - performance.now(), undefined, { ref: false })
    begin()
    // These calls have failed for their callers.
    if (this.#disconnects !== disconnects) throw this.#refuse(new Error('Disconnected'))
    this.release(await this.#open())
  }

  /** Returns the error of a connection that was not opened. */
  #refuse(cause: unknown): FlagError {
    const { [this.#sizeName]: connections, url } = this.#settings
    const limit = { name: this.#sizeName, connections }
    // If all connections are in use, one will be free again.
    this.#retryAt = isPoolBusy(cause) ? undefined : performance.now() + PAUSE_MS
    return connectionFailed(cause, { name: 'url', place: placeOf('url', url), limit })
  }

  /** Calls `work` with a free connection, and releases it. */
  async #use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.connect()
    try {
      const result = await work(client)
      this.release(client)
      return result
    } catch (error) {
      this.release(client, !endsConnection(error))
      throw fromPostgresError(error)
    }
  }
}
