import { connect, type Socket } from 'node:net'

/** The maximum time to wait for a server that neither replies nor closes the connection. */
const PATIENCE_MS = 60_000

/** A reply that was received over a raw connection. */
export interface RawAnswer {
  readonly status: number
  /** The headers by name in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

/** A TCP connection that can send any bytes, including invalid requests. */
export class RawConnection {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #isClosed = false
  readonly #gone: Promise<void>
  #wake: () => void = () => undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => undefined)
    socket.on('data', (piece) => {
      this.#received = Buffer.concat([this.#received, piece])
      this.#wake()
    })
    this.#gone = new Promise((resolve) => {
      socket.on('close', () => {
        this.#isClosed = true
        this.#wake()
        resolve()
      })
    })
  }

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1' })
      socket.once('error', reject)
      socket.once('connect', () => resolve(new RawConnection(socket)))
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  /**
   * Sends bytes. Resolves when they were handed to the system, or when the connection is closed.
   */
  async send(bytes: string | Uint8Array): Promise<void> {
    if (this.#isClosed) return
    const sent = new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()))
    await Promise.race([sent, this.#gone])
  }

  /** Waits for the next reply; `undefined` if the connection is closed instead. */
  async answer(): Promise<RawAnswer | undefined> {
    const endsAt = Date.now() + PATIENCE_MS
    for (;;) {
      const answer = this.#take()
      if (answer !== undefined || this.#isClosed) return answer
      if (Date.now() > endsAt) throw new Error(`No complete reply: ${this.#received}`)
      await this.#more()
    }
  }

  async #more(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #take(): RawAnswer | undefined {
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd === -1) return undefined
    const [statusLine = '', ...lines] = this.#received.toString('latin1', 0, headEnd).split('\r\n')
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const end = headEnd + 4 + Number(headers.get('content-length') ?? 0)
    if (this.#received.length < end) return undefined
    const text = this.#received.toString('utf8', headEnd + 4, end)
    this.#received = this.#received.subarray(end)
    return { status: Number(statusLine.split(' ')[1]), headers, text }
  }
}

/** Returns the bytes of an evaluation request. */
export function evaluateRequest(
  sdkKey: string,
  body: string | Uint8Array,
  headers: readonly string[] = [],
): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const head = [
    'POST /evaluator/evaluate HTTP/1.1',
    'Host: flags.test',
    `x-api-key: ${sdkKey}`,
    ...headers,
    `Content-Length: ${bytes.byteLength}`,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes])
}
