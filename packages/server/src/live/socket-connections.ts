import { inSlices } from '../slice.ts'
import { SocketConnection, type SocketLike, type SocketParts } from './socket-connection.ts'

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

  /** Begins the conversation over a socket that was just opened. */
  accept(socket: SocketLike): SocketConnection {
    const connection = new SocketConnection(socket, this.#parts)
    this.#open.add(connection)
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
