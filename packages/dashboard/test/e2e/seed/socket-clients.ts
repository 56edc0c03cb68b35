import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'

const AT_ONCE = 20
const RETRY_MS = 100

/** A message of the server: its type, the version, and the values of the flags that it contains. */
export interface SocketMessage {
  readonly type: string
  readonly flags?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

/** A client of the flag server that is connected with a WebSocket. */
export class SocketClient {
  /** All messages since the connection, oldest first. */
  readonly messages: SocketMessage[] = []
  readonly #socket: WebSocket

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (text) => this.messages.push(JSON.parse(String(text))))
  }

  /** Connects a client for the context of a user. Repeats the attempt if the server is busy. */
  static async connect(url: string, sdkKey: string, key: string): Promise<SocketClient> {
    for (;;) {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/sdk`)
      const client = new SocketClient(socket)
      await once(socket, 'open')
      socket.send(JSON.stringify({ type: 'init', sdkKey, context: { kind: 'user', key } }))
      await Promise.race([once(socket, 'message'), once(socket, 'close')])
      if (client.messages[0]?.type === 'flags') return client
      socket.terminate()
      await pause(RETRY_MS)
    }
  }

  /** Connects many clients, a few at once. */
  static async connectAll(
    url: string,
    sdkKey: string,
    count: number,
  ): Promise<readonly SocketClient[]> {
    const clients: SocketClient[] = []
    while (clients.length < count) {
      const next = Array.from({ length: Math.min(AT_ONCE, count - clients.length) }, (_, n) =>
        SocketClient.connect(url, sdkKey, `socket-${clients.length + n}`),
      )
      clients.push(...(await Promise.all(next)))
    }
    return clients
  }

  /** The last value of a flag that the client has received; `undefined` if it has received none. */
  valueOf(flag: string): unknown {
    return this.messages.findLast(({ flags }) => flags !== undefined && flag in flags)?.flags?.[
      flag
    ]
  }

  /** Ends the connection. */
  close(): void {
    this.#socket.terminate()
  }
}
