import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FlagServer } from '../flag-server.ts'

/** The interval at which connections without a request in progress are closed. */
const SWEEP_MS = 25

/** The default time limit of a shutdown in milliseconds. */
const WITHIN_MS = 8000

/** The sockets that another protocol than HTTP uses. */
const UPGRADED = new WeakSet<Duplex>()

/** Notes that a socket is not used for HTTP any more. */
export function noteUpgrade(socket: Duplex): void {
  UPGRADED.add(socket)
}

/**
 * Prepares the graceful shutdown of a host. Call it before the server listens. The returned function
 * stops accepting connections, closes those on which no request is in progress, closes the flag
 * server, and resolves when all requests have ended, or their connections were closed after
 * `withinMs`, by default eight seconds. Connections without a complete head of a request count as
 * idle. So do sockets that another listener of the host has upgraded, unless
 * `attachWebSocket` serves the same server. Another call returns the same promise.
 *
 * @example
 * const shutDown = createShutdown(server, flags)
 * process.once('SIGTERM', shutDown)
 */
export function createShutdown(
  server: Server,
  flags: Pick<FlagServer, 'close'>,
  { withinMs = WITHIN_MS }: { readonly withinMs?: number } = {},
): () => Promise<void> {
  const connections = new Connections(server)
  let ended: Promise<void> | undefined
  const shutDown = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    connections.closeIdle()
    const sweep = setInterval(() => connections.closeIdle(), SWEEP_MS)
    const limit = setTimeout(() => connections.closeAll(), withinMs)
    try {
      await flags.close()
      await closed
    } finally {
      clearInterval(sweep)
      clearTimeout(limit)
    }
  }
  return () => {
    ended ??= shutDown()
    return ended
  }
}

/** The connections of a server, with the last response on each. */
class Connections {
  readonly #responses = new Map<Socket, ServerResponse | undefined>()

  constructor(server: Server) {
    const isEncrypted = 'setSecureContext' in server
    server.on(isEncrypted ? 'secureConnection' : 'connection', (socket: Socket) => {
      // A declined upgrade appears as another connection with the same socket.
      if (this.#responses.has(socket)) return
      this.#responses.set(socket, undefined)
      socket.once('close', () => this.#responses.delete(socket))
    })
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      if (this.#responses.has(socket)) this.#responses.set(socket, response)
    })
  }

  /** Closes the connections without a request in progress. Upgraded sockets are not affected. */
  closeIdle(): void {
    for (const [socket, response] of this.#responses) {
      if (UPGRADED.has(socket) || response?.writableFinished === false) continue
      socket.destroySoon()
    }
  }

  closeAll(): void {
    for (const socket of this.#responses.keys()) socket.destroy()
  }
}
