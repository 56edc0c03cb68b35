import { forEachInTimeSlices } from '../runtime/time-slice.ts'
import { SocketConnection, type SocketConnectionOptions } from './socket-connection.ts'
import type { SocketLike } from './socket-like.ts'

/** All sockets that are open, with or without a session. */
export class SocketConnections {
  readonly #options: SocketConnectionOptions
  readonly #open = new Set<SocketConnection>()

  constructor(options: SocketConnectionOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#open.size
  }

  /** How many sockets have not sent a valid `init`. */
  get pending(): number {
    return this.#options.pending.size
  }

  /** How many sockets were closed so far because too many were pending. */
  get displaced(): number {
    return this.#options.pending.displaced
  }

  /** Connects a socket that was just opened from a network address. */
  accept(socket: SocketLike, address: string | undefined): SocketConnection {
    const connection = new SocketConnection(socket, this.#options)
    this.#open.add(connection)
    this.#options.pending.add(connection, address)
    return connection
  }

  /** Must be called once for each connection when its socket is gone. */
  release(connection: SocketConnection): void {
    this.#open.delete(connection)
    connection.closed()
  }

  /** Closes every socket because the server stops, in time slices. */
  endAll(): Promise<void> {
    return forEachInTimeSlices(this.#open, (connection) => connection.end('goingAway'))
  }
}
