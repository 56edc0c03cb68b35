import { addressOf, type Client } from '../access/client.ts'
import { ConnectionThrottle } from '../access/connection-throttle.ts'
import { forEachInTimeSlices } from '../runtime/time-slice.ts'
import { PendingSockets } from './pending-sockets.ts'
import { SocketConnection, type SocketConnectionOptions } from './socket-connection.ts'
import type { SocketLike } from './socket-like.ts'

interface OpenSocketsOptions extends Omit<SocketConnectionOptions, 'pending' | 'throttle'> {
  readonly trustProxy: boolean
  readonly maxPendingSocketsPerAddress: number
  readonly maxNewSocketsPerSecond: number
}

/** The open sockets of a server, with or without a session. */
export class OpenSockets {
  /** The sockets that have not sent a valid `init`. */
  readonly pending: PendingSockets
  readonly #options: OpenSocketsOptions
  readonly #connectionOptions: SocketConnectionOptions
  readonly #connections = new Set<SocketConnection>()

  constructor(options: OpenSocketsOptions) {
    const { clock, maxPendingSocketsPerAddress, maxNewSocketsPerSecond } = options
    this.#options = options
    this.pending = new PendingSockets({ perAddress: maxPendingSocketsPerAddress })
    const throttle = new ConnectionThrottle({ clock, perSecond: maxNewSocketsPerSecond })
    this.#connectionOptions = { ...options, pending: this.pending, throttle }
  }

  /** The number of open sockets. */
  get size(): number {
    return this.#connections.size
  }

  /** Connects a socket that was just opened. `client` is the sender of the upgrade request. */
  accept(socket: SocketLike, client: Client | undefined): SocketConnection {
    const connection = new SocketConnection(socket, this.#connectionOptions)
    const address = client && addressOf(client, this.#options.trustProxy)
    this.#connections.add(connection)
    this.pending.add(connection, address)
    return connection
  }

  /** Releases the connection of a socket that was closed. */
  release(connection: SocketConnection): void {
    this.#connections.delete(connection)
    connection.closed()
  }

  /** Closes all sockets because the server stops. */
  end(): Promise<void> {
    return forEachInTimeSlices(this.#connections, (connection) => connection.end('goingAway'))
  }
}
