import { createServer, type Server } from 'node:http'
import {
  asServerMessage,
  CLOSE_CODES,
  type FlagValues,
  MAX_MESSAGE_BYTES,
  SDK_PATHS,
} from '@ff/protocol/sdk'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { forwardEvaluation, forwardedFor, targetOf } from './forward-evaluation.ts'
import type { GatewayOptions } from './gateway-options.ts'

/** Older clients send a ping every 25 seconds. */
const SILENT_MS = 60_000
/** A client is disconnected if more bytes wait to be sent, in one of the two directions. */
const MAX_UNSENT_BYTES = 1024 * 1024

/** Older clients stop only after these close codes. */
const FINAL = { keyRefused: 4001, badMessage: 1008 } as const

const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

/** Creates a proxy that serves older clients of the interface from a flag server. */
export function createGateway(options: GatewayOptions): Server {
  const sockets = new WebSocketServer({
    noServer: true,
    WebSocket: LegacySocket,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  const server = createServer((request, response) => {
    void forwardEvaluation(options, request, response)
  })
  server.on('upgrade', (request, stream, head) => {
    stream.on('error', () => stream.destroy())
    const { path, query } = targetOf(request)
    if (path !== SDK_PATHS.socket) return stream.end(NOT_FOUND)
    const apiKey = new URLSearchParams(query).get('apiKey')
    sockets.handleUpgrade(request, stream, head, (client) => {
      if (apiKey) connect({ ...options, client, apiKey, headers: forwardedFor(request) })
      else client.close(CLOSE_CODES.keyRefused, 'The parameter apiKey is missing.')
    })
  })
  return server
}

/** A client's socket. It sends close codes that have the intended effect on older clients. */
class LegacySocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(legacyCode(code), reason)
  }
}

/** Returns the close code for an older client: a final one, or one after which it reconnects. */
function legacyCode(code: number | undefined): number | undefined {
  if (code === undefined || code === 1000) return code
  if (code === CLOSE_CODES.keyRefused) return FINAL.keyRefused
  const isClientsFault = code === CLOSE_CODES.badMessage || code === 1007 || code === 1009
  return isClientsFault ? FINAL.badMessage : CLOSE_CODES.tryAgainLater
}

interface Connection extends GatewayOptions {
  readonly client: WebSocket
  readonly apiKey: string
  readonly headers: Readonly<Record<string, string>>
}

// #region core
function connect({ target, warn, client, apiKey, headers }: Connection): void {
  const server = new WebSocket(target.replace(/^http/, 'ws') + SDK_PATHS.socket, {
    headers,
    handshakeTimeout: 10_000,
  })
  const silence = setTimeout(() => client.terminate(), SILENT_MS)
  let values: Record<string, FlagValues[string]> = {}

  client.pause() // until the server receives messages
  server.on('open', () => {
    server.send(JSON.stringify({ type: 'init', sdkKey: apiKey, context: {} }))
    client.resume()
  })
  client.on('message', (data: RawData, isBinary: boolean) => {
    silence.refresh()
    if (server.bufferedAmount > MAX_UNSENT_BYTES) client.close(CLOSE_CODES.tryAgainLater)
    else server.send(data, { binary: isBinary })
  })
  server.on('message', (data) => {
    const message = asServerMessage(JSON.parse(data.toString()))
    if (message === undefined) return
    if (client.bufferedAmount > MAX_UNSENT_BYTES) return client.close(CLOSE_CODES.tryAgainLater)
    if (message.type !== 'flags') return client.send(JSON.stringify(message))
    values = { ...(message.full ? {} : values), ...message.flags }
    for (const key of message.removed ?? []) delete values[key]
    const { type, version } = message
    client.send(JSON.stringify({ type, flags: values, version, full: true }))
  })
  server.on('close', (code, reason) => {
    client.resume()
    client.close(code, reason)
  })
  client.on('close', () => server.close())
  client.on('close', () => clearTimeout(silence))
  client.on('error', () => undefined) // `close` follows.
  server.on('error', ({ message }) => warn(`A socket to the flag server failed: ${message}`))
}
// #endregion
