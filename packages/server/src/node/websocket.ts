import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { MAX_MESSAGE_BYTES, SDK_PATHS } from '@ff/protocol/sdk'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { Client } from '../access/client.ts'
import type { FlagServer } from '../flag-server.ts'
import { outsideTarget, targetBelow } from '../http/exchange.ts'
import { REQUEST_ID_HEADER } from '../http/request-log.ts'
import type { Message } from '../live/flag-set-diff.ts'
import type { SocketConnection } from '../live/socket-connection.ts'
import type { SocketLike } from '../live/socket-like.ts'
import type { Cancel } from '../runtime/clock.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { forEachInTimeSlices } from '../runtime/time-slice.ts'
import { serveWithoutUpgrade } from './declined-upgrade.ts'
import { noteUpgrade } from './shutdown.ts'
import { UpgradeQueue } from './upgrade-queue.ts'

/** Stops accepting sockets and sending pings. Open sockets stay open. */
export type Detach = () => void

/** The interval of pings. A socket that does not respond before the next ping is terminated. */
const HEARTBEAT_MS = 30_000

const SOCKET_OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE_BYTES,
  maxFragments: 64,
  /** The maximum time that a client may take to respond to a close frame, in milliseconds. */
  closeTimeout: 2000,
} as const

/**
 * The upgrade listeners that this module has added. Each value returns `true` for the requests that
 * the listener serves.
 */
const SERVES = new WeakMap<object, (request: IncomingMessage) => boolean>()

/**
 * Serves WebSockets at `/ws/sdk` below the server's `basePath`. Other upgrades are left to the other
 * listeners of the host. If there are none, WebSockets are refused with 404, and requests to upgrade
 * to other protocols, such as `h2c`, are served as requests without an upgrade. With the option
 * `basePath`, sockets are served below this path instead, for a proxy that changes paths.
 */
export function attachWebSocket(
  server: Server,
  flags: FlagServer,
  { basePath = flags.basePath }: { readonly basePath?: string } = {},
): Detach {
  const sockets = new WebSocketServer(SOCKET_OPTIONS)
  const open = new OpenSockets(flags)
  const serves = (request: IncomingMessage) =>
    isWebSocket(request) && targetBelow(basePath, request.url ?? '/')?.path === SDK_PATHS.socket
  const queue = new UpgradeQueue(({ request, socket, head }) => {
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      open.add({ webSocket, stream: socket, client: clientOf(request) })
    })
  })
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refuse = (status: number, headers = '') => {
      const { url = '/' } = request
      const target = targetBelow(basePath, url) ?? outsideTarget(url)
      const traced = { ...clientOf(request), ...target, method: 'GET' }
      const id = flags.refuseUpgrade(traced, status)
      sendRefusal(socket, status, `${headers}${REQUEST_ID_HEADER}: ${id}\r\n`)
    }
    const isServed = serves(request)
    const isDeclined = !isServed && isLeftToUs(server, request, upgrade)
    if (isDeclined && !isWebSocket(request)) {
      serveWithoutUpgrade(server, { request, socket, head })
      return
    }
    noteUpgrade(socket)
    if (isDeclined) refuse(404)
    if (!isServed) return
    const seconds = flags.admitSocket(queue.size)
    if (seconds > 0) refuse(429, `Retry-After: ${seconds}\r\n`)
    else queue.add({ request, socket, head })
  }
  SERVES.set(upgrade, serves)
  server.on('upgrade', upgrade)
  return () => {
    server.off('upgrade', upgrade)
    open.stopHeartbeat()
  }
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Returns `true` if this listener must handle a request that it does not serve: this module has added all upgrade
 * listeners, none of them serves the request, and this one is the first.
 */
function isLeftToUs(server: Server, request: IncomingMessage, upgrade: object): boolean {
  const listeners = server.listeners('upgrade')
  return listeners[0] === upgrade && listeners.every((one) => SERVES.get(one)?.(request) === false)
}

/** A socket directly after its upgrade was accepted. */
interface Opened {
  readonly webSocket: WebSocket
  readonly stream: Duplex
  readonly client: Client
}

function clientOf({ headers, socket }: IncomingMessage): Client {
  return {
    header(name) {
      const value = headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    address: socket.remoteAddress,
    isEncrypted: 'encrypted' in socket && socket.encrypted === true,
  }
}

/** The encoded frame of each message. Several clients may receive the same message. */
const FRAMES = new WeakMap<Message, Buffer>()

/**
 * A `ws` socket with the methods that a connection needs. Messages are written directly to the
 * stream as frames that all sockets share. The frames cannot mix with the frames that `ws` writes,
 * because `ws` also writes only whole frames while compression is disabled.
 */
class NodeSocket implements SocketLike {
  readonly connection: SocketConnection
  /** `true` if the client has sent a message or a pong since the last ping. */
  isAlive = true
  readonly #webSocket: WebSocket
  readonly #stream: Duplex

  constructor(flags: FlagServer, { webSocket, stream, client }: Opened) {
    this.#webSocket = webSocket
    this.#stream = stream
    this.connection = flags.acceptSocket(this, client)
  }

  get bufferedAmount(): number {
    return this.#stream.writableLength
  }

  send(message: Message): void {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return
    this.#stream.write(getOrInsert(FRAMES, message, () => frameOf(message)))
  }

  whenDrained(task: () => void): void {
    this.#stream.once('drain', task)
  }

  close(code: number, reason: string, isAnonymous: boolean): void {
    this.#webSocket.close(code, reason)
    if (isAnonymous) this.#stream.end(() => this.#webSocket.terminate())
  }
}

/** The sockets of one server. All sockets share the same listener functions to save memory. */
class OpenSockets {
  readonly #flags: FlagServer
  readonly #sockets = new Map<WebSocket, NodeSocket>()
  readonly #listeners: ReturnType<typeof listenersOf>
  #cancelBeat: Cancel | undefined

  constructor(flags: FlagServer) {
    this.#flags = flags
    this.#listeners = listenersOf(flags, this.#sockets)
  }

  add(opened: Opened): void {
    const { webSocket } = opened
    const { message, pong, close, error } = this.#listeners
    this.#sockets.set(webSocket, new NodeSocket(this.#flags, opened))
    webSocket.on('message', message).on('pong', pong).on('close', close).on('error', error)
    this.#cancelBeat ??= this.#flags.clock.schedule(HEARTBEAT_MS, () => this.#beat())
  }

  stopHeartbeat(): void {
    this.#cancelBeat?.()
    this.#cancelBeat = undefined
  }

  /** Pings all sockets, and terminates those that did not respond to the last ping. */
  #beat(): void {
    this.#cancelBeat = undefined
    if (this.#sockets.size === 0) return
    this.#cancelBeat = this.#flags.clock.schedule(HEARTBEAT_MS, () => this.#beat())
    void forEachInTimeSlices(this.#sockets, ([webSocket, socket]) => {
      if (!socket.isAlive) webSocket.terminate()
      else {
        socket.isAlive = false
        if (webSocket.readyState === webSocket.OPEN) webSocket.ping()
      }
    })
  }
}

function listenersOf(flags: FlagServer, sockets: Map<WebSocket, NodeSocket>) {
  return {
    message(this: WebSocket, data: RawData, isBinary: boolean): void {
      const socket = sockets.get(this)
      if (socket === undefined) return
      socket.isAlive = true
      socket.connection.receive(isBinary ? data : data.toString())
    },
    pong(this: WebSocket): void {
      const socket = sockets.get(this)
      if (socket !== undefined) socket.isAlive = true
    },
    close(this: WebSocket): void {
      const socket = sockets.get(this)
      sockets.delete(this)
      if (socket !== undefined) flags.releaseSocket(socket.connection)
    },
    // The `close` event follows with the matching code. Without a listener, the error would end the
    // process.
    error(): void {},
  }
}

const WHOLE_TEXT = 0x81

/** Returns an unmasked frame that contains the whole message (RFC 6455). */
function frameOf({ text }: Message): Buffer {
  const length = Buffer.byteLength(text)
  const size = length < 126 ? 2 : length < 2 ** 16 ? 4 : 10
  const frame = Buffer.allocUnsafe(size + length)
  frame[0] = WHOLE_TEXT
  if (size === 2) frame[1] = length
  else if (size === 4) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  frame.write(text, size)
  return frame
}

/** Refuses an upgrade with an HTTP response, and closes the connection. */
function sendRefusal(socket: Duplex, status: number, headers: string): void {
  socket.on('error', () => socket.destroy())
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  socket.end(`${line}${headers}Content-Length: 0\r\nConnection: close\r\n\r\n`, () =>
    socket.destroy(),
  )
}
