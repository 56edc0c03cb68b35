import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FlagError } from '@ff/core'
import { Pool, type PoolClient, type QueryResult } from 'pg'
import { dataRefused } from '../ports/record-errors.ts'
import type { SqlRow, SqlStatement } from '../sql/sql-driver.ts'
import { plain } from '../sql/sql-driver.ts'
import {
  connectionFailed,
  endsConnection,
  fromPostgresError,
  isPoolBusy,
} from './postgres-errors.ts'
import type { PostgresSettings } from './postgres-settings.ts'
import { placeOf } from './postgres-url.ts'

/** The result of a statement. */
export type PostgresResult = QueryResult<SqlRow>

/** The object ids of the types whose values pg would return as text: `bigint` and `numeric`. */
const NUMBERS: readonly number[] = [20, 1700]
const BOOLEAN = 16

/** The time that a response may take in addition to the time limits of PostgreSQL. */
const RESPONSE_MARGIN_MS = 5000

/** The time between a refused connection and the next attempt to open one. */
const PAUSE_MS = 100

/** Parsers of column values. Columns have texts, numbers and booleans only. */
const TYPES = { getTypeParser: (type: number) => parserOf(type) }

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
  /** The sockets of all connections, also of those that are not open yet. */
  readonly #sockets = new Set<Socket>()
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
    const { url, connectTimeoutMs, statementTimeoutMs, lockTimeoutMs, connectionLifetimeMs } =
      settings
    this.#settings = settings
    this.#sizeName = sizeName
    this.#pool = new Pool({
      connectionString: url,
      max: settings[sizeName],
      connectionTimeoutMillis: connectTimeoutMs,
      maxLifetimeSeconds: connectionLifetimeMs / 1000,
      // PostgreSQL enforces the time limits. This limit applies if the server does not respond.
      query_timeout: statementTimeoutMs + lockTimeoutMs + RESPONSE_MARGIN_MS,
      keepAlive: true,
      allowExitOnIdle: true,
      pipeline: true,
      types: TYPES,
      stream: () => this.#newSocket(),
    })
    // The pool replaces lost connections, and statements that are running on them fail.
    const ignore = () => undefined
    this.#pool.on('error', ignore)
    this.#pool.on('connect', (client) => {
      this.#openedAt.set(client, performance.now())
      client.on('error', ignore)
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

  /** Returns a free connection, which the caller releases with `release`. Throws `UNAVAILABLE` if there is none. */
  async connect(): Promise<PoolClient> {
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
    for (const socket of this.#sockets) socket.destroy()
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

  #newSocket(): Socket {
    const socket = new Socket()
    this.#sockets.add(socket)
    return socket.once('close', () => this.#sockets.delete(socket))
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

/** Sends statements without waiting for their results, together with others of this moment. */
export function send(
  client: PoolClient,
  statements: readonly SqlStatement[],
  timeoutMs?: number,
): readonly Promise<PostgresResult>[] {
  const { stream } = client.connection
  stream.cork()
  process.nextTick(() => stream.uncork())
  return statements.map(({ sql, parameters }) => {
    const limit = timeoutMs === undefined ? {} : { query_timeout: timeoutMs }
    return client.query<SqlRow>({ text: sql, values: [...parameters], ...limit })
  })
}

/** Waits for all results. Throws the first error: after it, PostgreSQL refuses all statements. */
export async function resultsOf(
  sent: readonly Promise<PostgresResult>[],
): Promise<readonly PostgresResult[]> {
  await Promise.allSettled(sent)
  return Promise.all(sent)
}

/** Throws `INVALID_REQUEST` if a parameter contains U+0000, which PostgreSQL cannot store. */
export function assertStorable({ parameters }: SqlStatement): void {
  if (parameters.some((value) => typeof value === 'string' && value.includes('\0'))) {
    throw dataRefused(new Error('A text contains U+0000, which PostgreSQL cannot store.'))
  }
}

function parserOf(type: number): (text: string) => string | number | boolean {
  if (NUMBERS.includes(type) || type === 23 || type === 701) return Number
  if (type === BOOLEAN) return (text) => text === 't'
  return (text) => text
}
