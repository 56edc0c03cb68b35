import { FlagError } from '@ff/core'
import { placeOf, withVerifiedTls } from './postgres-url.ts'

/** The database of a store, its connections and its time limits. */
export interface PostgresOptions {
  /**
   * The URL of the database: `postgres://user:password@host:5432/database`. Parameters such as
   * `sslmode` can be added. A connection pooler must assign a connection for at least one
   * transaction, as PgBouncer does in the modes `transaction` and `session`.
   */
  readonly url: string
  /**
   * The URL for the connection that listens for changes: of the same database, but without a
   * connection pooler in the mode `transaction`, which does not support `LISTEN`. `false` for no
   * change feed. Default: `url`.
   */
  readonly listenUrl?: string | false
  /** The maximum number of connections for reading. Default: 10. */
  readonly readConnections?: number
  /** The maximum number of connections for writing. Default: 10. */
  readonly writeConnections?: number
  /**
   * The maximum time in milliseconds to open a connection, or to wait until one of the connections
   * is free. Default: 10,000.
   */
  readonly connectTimeoutMs?: number
  /** The maximum time of a statement in milliseconds. Default: 30,000. */
  readonly statementTimeoutMs?: number
  /**
   * The maximum time in milliseconds to wait for the lock of a transaction, or for a row, that a
   * transaction of another process has locked. Default: 15,000.
   */
  readonly lockTimeoutMs?: number
  /**
   * The maximum time in milliseconds between two statements of a transaction, after which
   * PostgreSQL ends the transaction. Default: 10,000.
   */
  readonly idleTimeoutMs?: number
  /**
   * The time in milliseconds after which a connection is not used again, and another one is opened
   * when it is needed. Default: 1,800,000, which is half an hour.
   */
  readonly connectionLifetimeMs?: number
  /**
   * Called with one sentence, which contains no password, when the notifications of the database do
   * not arrive, so that changes reach other instances late, and when the database permits fewer
   * connections than the options. Default: nothing is reported.
   */
  readonly onWarning?: (message: string) => void
}

/** The options with their defaults. */
export type PostgresSettings = Required<PostgresOptions>

/** The largest number of milliseconds that timers of Node and PostgreSQL accept. */
export const MOST_MS = 2 ** 31 - 1

/** Returns the options with their defaults. Throws `INVALID_REQUEST` if an option is invalid. */
export function postgresSettings(options: PostgresOptions): PostgresSettings {
  const settings = {
    url: options.url,
    listenUrl: options.listenUrl ?? options.url,
    readConnections: options.readConnections ?? 10,
    writeConnections: options.writeConnections ?? 10,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    statementTimeoutMs: options.statementTimeoutMs ?? 30_000,
    lockTimeoutMs: options.lockTimeoutMs ?? 15_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 10_000,
    connectionLifetimeMs: options.connectionLifetimeMs ?? 1_800_000,
    onWarning: options.onWarning ?? (() => undefined),
  }
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === 'number') assertPositive(name, value)
  }
  placeOf('url', settings.url)
  const { url, listenUrl } = settings
  if (listenUrl === false) return { ...settings, url: withVerifiedTls(url) }
  placeOf('listenUrl', listenUrl)
  return { ...settings, url: withVerifiedTls(url), listenUrl: withVerifiedTls(listenUrl) }
}

function assertPositive(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= MOST_MS) return
  const message = `\`${name}\` must be a positive integer (got ${value}).`
  throw new FlagError('INVALID_REQUEST', message)
}
