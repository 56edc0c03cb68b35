import { asServerMessage, type FlagValues, SDK_PATHS } from '@ff/protocol/sdk'
import { WebSocket } from 'ws'

/** The options of `connect`. */
export interface ClientOptions {
  /** The server's base URL. */
  readonly url: string
  readonly sdkKey: string
  readonly context: { readonly kind: string; readonly key: string; readonly [name: string]: string }
  /** Receives all values and the keys of the changed ones, at first and after each change. */
  readonly onValues: (values: FlagValues, changed: readonly string[]) => void
  /** Receives the close code and reason of the socket. */
  readonly onEnd: (code: number, reason: string) => void
}

/** Receives the values of a context over a WebSocket. Returns a function that closes it. */
// #region client
export function connect({ url, sdkKey, context, onValues, onEnd }: ClientOptions): () => void {
  const socket = new WebSocket(url.replace(/^http/, 'ws') + SDK_PATHS.socket)
  let values: Record<string, FlagValues[string]> = {}

  socket.on('open', () => socket.send(JSON.stringify({ type: 'init', sdkKey, context })))
  socket.on('message', (data) => {
    const message = asServerMessage(JSON.parse(data.toString()))
    if (message?.type === 'error') console.error('refused:', message.error)
    if (message?.type !== 'flags') return
    values = { ...(message.full ? {} : values), ...message.flags }
    for (const key of message.removed ?? []) delete values[key]
    onValues(values, [...Object.keys(message.flags), ...(message.removed ?? [])])
  })
  socket.on('close', (code, reason) => onEnd(code, reason.toString()))
  socket.on('error', (error) => console.error(error.message))
  return () => socket.close()
}
// #endregion
