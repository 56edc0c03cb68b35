import { Socket } from 'node:net'
import { Pool } from 'pg'
import type { PostgresSettings } from './postgres-settings.ts'
import { TYPES } from './postgres-statements.ts'

/** The time that a response may take in addition to the time limits of PostgreSQL. */
const RESPONSE_MARGIN_MS = 5000

/** The sockets of the connections of a pool, also of those that are not open yet. */
export class ConnectionSockets {
  readonly #sockets = new Set<Socket>()

  /** Creates the socket of a new connection. */
  create(): Socket {
    const socket = new Socket()
    this.#sockets.add(socket)
    return socket.once('close', () => this.#sockets.delete(socket))
  }

  /** Ends all connections at once. Statements that are running, and attempts to connect, fail. */
  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** Creates a pool with at most `max` connections. */
export function createPool(
  {
    url,
    connectTimeoutMs,
    statementTimeoutMs,
    lockTimeoutMs,
    connectionLifetimeMs,
  }: PostgresSettings,
  max: number,
  sockets: ConnectionSockets,
): Pool {
  return new Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    maxLifetimeSeconds: connectionLifetimeMs / 1000,
    // PostgreSQL enforces the time limits. This limit applies if the server does not respond.
    query_timeout: statementTimeoutMs + lockTimeoutMs + RESPONSE_MARGIN_MS,
    keepAlive: true,
    allowExitOnIdle: true,
    pipeline: true,
    types: TYPES,
    stream: () => sockets.create(),
  })
}
