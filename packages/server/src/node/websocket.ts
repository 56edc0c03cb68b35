import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { FlagError } from '@ff/core'
import { MAX_MESSAGE_BYTES, SDK_PATHS } from '@ff/protocol/sdk'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Cancel } from '../clock.ts'
import type { FlagServer } from '../flag-server.ts'
import { targetBelow } from '../http/target.ts'

/** Stops accepting sockets, and the heartbeat; sockets that are open stay open. */
export type Detach = () => void

/** Every socket must answer a ping within this time, or is cut. */
const HEARTBEAT_MS = 30_000

const SOCKET_OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE_BYTES,
  maxFragments: 64,
  /** How long a client may take to say goodbye, in milliseconds. */
  closeTimeout: 2000,
} as const

/** The upgrade listeners that this module has added, and which requests each of them serves. */
const SERVES = new WeakMap<object, (request: IncomingMessage) => boolean>()

/**
 * Serves WebSockets at `/ws/sdk` below the server's `basePath`. Upgrades of other paths are left
 * to the host's other listeners, and are refused with 404 when there are none.
 */
export function attachWebSocket(server: Server, flags: FlagServer): Detach {
  const sockets = new WebSocketServer(SOCKET_OPTIONS)
  const heartbeat = new Heartbeat(flags)
  const serves = ({ url = '/' }: IncomingMessage) =>
    targetBelow(flags.basePath, url)?.path === SDK_PATHS.socket
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!serves(request)) {
      if (isLeftToUs(server, request, upgrade)) refuse(socket, 404)
      return
    }
    const seconds = flags.admitSocket()
    if (seconds > 0) {
      refuse(socket, 429, `Retry-After: ${seconds}\r\n`)
    } else {
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        heartbeat.watch(webSocket)
        converse(flags, webSocket)
      })
    }
  }
  SERVES.set(upgrade, serves)
  server.on('upgrade', upgrade)
  return () => {
    server.off('upgrade', upgrade)
    heartbeat.stop()
  }
}

/** Whether nobody but this module listens, none of its listeners serves the request, and this is the first. */
function isLeftToUs(server: Server, request: IncomingMessage, upgrade: object): boolean {
  const listeners = server.listeners('upgrade')
  return listeners[0] === upgrade && listeners.every((one) => SERVES.get(one)?.(request) === false)
}

/** Binds a `ws` socket to the conversation that the server holds over it. */
function converse(flags: FlagServer, webSocket: WebSocket): void {
  const connection = flags.acceptSocket({
    get bufferedAmount() {
      return webSocket.bufferedAmount
    },
    send: (text, left) => webSocket.send(text, left),
    close: (code, reason) => webSocket.close(code, reason),
  })
  webSocket.on('message', (data, isBinary) => {
    if (isBinary) connection.refuse(new FlagError('INVALID_REQUEST', 'Send text, not binary.'))
    else connection.receive(data.toString())
  })
  webSocket.on('close', () => flags.releaseSocket(connection))
  // A `close` follows, with the code that fits; without a listener the process would end.
  webSocket.on('error', () => undefined)
}

/** Pings all sockets with one timer, and cuts those that did not answer the last ping. */
class Heartbeat {
  readonly #flags: FlagServer
  /** Whether each socket has been heard of since the last ping. */
  readonly #heard = new Map<WebSocket, boolean>()
  #cancel: Cancel | undefined

  constructor(flags: FlagServer) {
    this.#flags = flags
  }

  watch(webSocket: WebSocket): void {
    this.#heard.set(webSocket, true)
    const hear = () => void this.#heard.set(webSocket, true)
    webSocket.on('pong', hear)
    webSocket.on('message', hear)
    webSocket.on('close', () => void this.#heard.delete(webSocket))
    this.#cancel ??= this.#flags.clock.schedule(HEARTBEAT_MS, () => this.#beat())
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #beat(): void {
    this.#cancel = undefined
    for (const [webSocket, wasHeard] of this.#heard) {
      if (!wasHeard) webSocket.terminate()
      else {
        this.#heard.set(webSocket, false)
        if (webSocket.readyState === webSocket.OPEN) webSocket.ping()
      }
    }
    if (this.#heard.size > 0) {
      this.#cancel = this.#flags.clock.schedule(HEARTBEAT_MS, () => this.#beat())
    }
  }
}

/** Answers an upgrade in plain HTTP, and ends the connection. */
function refuse(socket: Duplex, status: number, headers = ''): void {
  socket.on('error', () => socket.destroy())
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  socket.end(`${line}${headers}Content-Length: 0\r\nConnection: close\r\n\r\n`, () =>
    socket.destroy(),
  )
}
