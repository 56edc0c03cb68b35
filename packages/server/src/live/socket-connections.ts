import { inSlices } from '../runtime/time-slice.ts'
import { SocketConnection, type SocketParts } from './socket-connection.ts'
import type { SocketLike } from './socket-like.ts'

/** All sockets that are open, with or without a session. */
export class SocketConnections {
  readonly #parts: SocketParts
  readonly #open = new Set<SocketConnection>()

  constructor(parts: SocketParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#open.size
  }

  /** How many sockets have not sent a valid `init`. */
  get pending(): number {
    return this.#parts.pending.size
  }

  /** How many sockets were closed so far because too many were pending. */
  get displaced(): number {
    return this.#parts.pending.displaced
  }

  /** Begins the conversation over a socket that was just opened from a network address. */
  accept(socket: SocketLike, address: string | undefined): SocketConnection {
    const connection = new SocketConnection(socket, this.#parts)
    this.#open.add(connection)
    this.#parts.pending.add(connection, address)
    return connection
  }

  /** Must be called once for each connection when its socket is gone. */
  release(connection: SocketConnection): void {
    this.#open.delete(connection)
    connection.closed()
  }

  /** Tells every client that the server stops, in slices. */
  endAll(): Promise<void> {
    return inSlices(this.#open, (connection) => connection.end('goingAway'))
  }
}
