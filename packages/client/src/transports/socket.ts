import { isObject } from '@ff/protocol/snapshot'
import { jsonIn } from '../json/json.ts'
import type { ClientSocket, ClientSocketConstructor, OnEnd, Stop } from './transport.ts'

interface SocketListeners {
  /** Receives the function that sends a text. */
  readonly onOpen: (send: (text: string) => void) => void
  /** Receives each message; `undefined` if it is not a JSON object. */
  readonly onMessage: (message: Readonly<Record<string, unknown>> | undefined) => void
  readonly onEnd: OnEnd
}

/** Opens a socket. Throws if the platform refuses the URL. */
export function openSocket(
  webSocket: ClientSocketConstructor,
  url: string,
  { onOpen, onMessage, onEnd }: SocketListeners,
): Stop {
  const socket: ClientSocket = new webSocket(url)
  let status: unknown
  let retryAfter: unknown
  socket.onopen = () => onOpen((text) => socket.send(text))
  socket.onmessage = ({ data }) => {
    const json = jsonIn(data)
    const message = isObject(json) ? json : undefined
    if (message?.['type'] === 'error') ({ statusCode: status, retryAfter } = message)
    else onMessage(message)
  }
  socket.onclose = ({ code }) => {
    // Any JSON can be the status of a message, also an object that cannot be converted to text.
    if (typeof status === 'number') onEnd({ problem: `${status}`, code: status, retryAfter })
    else onEnd({ problem: `WebSocket closed (${code})`, code, retryAfter })
  }
  // Some implementations throw if an error has no listener. The end follows in any case.
  socket.onerror = () => {}
  return () => {
    socket.onopen = socket.onmessage = socket.onclose = null
    socket.close()
  }
}
