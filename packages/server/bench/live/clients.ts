import { connect, type Socket } from 'node:net'
import { contextsOf } from '../../../core/bench/workload.ts'
import { answerAll, instant, pause, SDK_KEY } from './messages.ts'

/**
 * The protocol of one kind of client. It uses as little CPU as possible, so that the benchmark
 * measures the server.
 */
interface Speech {
  /** The bytes that are sent when the connection is open. */
  readonly hello: Buffer
  /** The bytes that are sent after each message; `undefined` for none. */
  readonly again?: Buffer
  /** `true` if the server responds to `hello` immediately. */
  readonly isGreeted: boolean
  createReader(socket: Socket): Reader
}

/** Reads bytes and counts messages. */
interface Reader {
  /** Returns the number of messages that are completed by these bytes. */
  read(bytes: Buffer): number
}

const CONTEXTS = contextsOf(1000).map((context) => JSON.stringify(context))
const AT_ONCE = 250

const received = { count: 0, wanted: Number.POSITIVE_INFINITY, resolve: (_at: number) => {} }
const sockets: { readonly socket: Socket; readonly speech: Speech }[] = []
/** The buffer that all sockets read into. */
const buffer = Buffer.alloc(256 * 1024)

/**
 * Runs the client process: opens clients, and reports when the last of them has received a message.
 */
export async function beClients(kind: string, port: number): Promise<void> {
  const speechOf = kind === 'polls' ? pollSpeech : socketSpeech
  const speeches = kind === 'streams' ? [await streamSpeech(port)] : CONTEXTS.map(speechOf)
  answerAll({
    open: async (count) => {
      const before = sockets.length
      const greeted = allReceived(count - before)
      for (let index = before; index < count; index += 1) {
        const speech = speeches[index % speeches.length]
        if (speech !== undefined) await open(port, speech)
        if (index % AT_ONCE === 0) await pause(10)
      }
      if (speeches[0]?.isGreeted) await greeted
      return {}
    },
    // Resolves when the last client has received the change. The parent sends its next request
    // before that.
    hear: async (count) => ({ lastAt: await allReceived(count) }),
    again: async () => {
      for (const [index, { socket, speech }] of sockets.entries()) {
        if (speech.again !== undefined) socket.write(speech.again)
        if (index % AT_ONCE === 0) await pause(1)
      }
      return {}
    },
  })
}

function allReceived(count: number): Promise<number> {
  return new Promise((resolve) => {
    received.count = 0
    received.wanted = count
    received.resolve = resolve
  })
}

function open(port: number, speech: Speech): Promise<void> {
  return new Promise((resolve, reject) => {
    const callback = (length: number) => {
      received.count += reader.read(buffer.subarray(0, length))
      if (received.count >= received.wanted) {
        received.wanted = Number.POSITIVE_INFINITY
        received.resolve(instant())
      }
      return true
    }
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback } }, () => {
      socket.write(speech.hello)
      resolve()
    })
    const reader = speech.createReader(socket)
    socket.on('error', reject)
    socket.on('close', () => process.exit(1))
    sockets.push({ socket, speech })
  })
}

function pollSpeech(context: string): Speech {
  const body = `{"context":${context}}`
  const hello = Buffer.from(
    `POST /evaluator/poll HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: ${SDK_KEY}\r\n` +
      'Content-Type: application/json\r\nUser-Agent: benchmark\r\nAccept: */*\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  return { hello, again: hello, isGreeted: false, createReader: () => new ResponseReader() }
}

function socketSpeech(context: string): Speech {
  const init = `{"type":"init","sdkKey":"${SDK_KEY}","context":${context}}`
  const hello = Buffer.concat([
    Buffer.from(
      'GET /ws/sdk HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    ),
    textFrame(init),
  ])
  return { hello, isGreeted: true, createReader: (socket) => new FrameReader(socket) }
}

/** Returns the request for an event stream, with the address in an answer of OFREP. */
async function streamSpeech(port: number): Promise<Speech> {
  const response = await fetch(`http://127.0.0.1:${port}/ofrep/v1/evaluate/flags`, {
    method: 'POST',
    headers: { 'x-api-key': SDK_KEY, 'content-type': 'application/json' },
    body: '{"context":{"targetingKey":"benchmark"}}',
  })
  const { eventStreams } = (await response.json()) as {
    eventStreams: [{ endpoint: { requestUri: string } }]
  }
  const hello = Buffer.from(
    `GET ${eventStreams[0].endpoint.requestUri} HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
      'Accept: text/event-stream\r\nUser-Agent: benchmark\r\n\r\n',
  )
  return { hello, isGreeted: true, createReader: () => new EventReader() }
}

/** Counts the first chunk of a stream. */
class EventReader implements Reader {
  #hasBegun = false

  read(bytes: Buffer): number {
    if (this.#hasBegun || !bytes.includes('retry: ')) return 0
    this.#hasBegun = true
    return 1
  }
}

/** Returns a text frame with a mask of zeros. */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const header = [0x81, 0x80 | 126, payload.length >> 8, payload.length & 255, 0, 0, 0, 0]
  return Buffer.concat([Buffer.from(header), payload])
}

const HEADERS_END = '\r\n\r\n'

/** Counts the responses of a connection by their `Content-Length`. */
class ResponseReader implements Reader {
  #head = ''
  #left = 0

  read(bytes: Buffer): number {
    let done = 0
    for (let at = 0; at < bytes.length; ) {
      if (this.#left === 0) {
        this.#head += bytes.toString('latin1', at, at + 2048)
        const end = this.#head.indexOf(HEADERS_END)
        if (end === -1) return done
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1])
        if (!this.#head.startsWith('HTTP/1.1 200') || !(length > 0)) throw new Error(this.#head)
        at += end + HEADERS_END.length
        this.#head = ''
        this.#left = length
      }
      const taken = Math.min(this.#left, bytes.length - at)
      this.#left -= taken
      at += taken
      if (this.#left === 0) done += 1
    }
    return done
  }
}

const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

/** Counts the messages after the response to the upgrade, and responds to pings. */
class FrameReader implements Reader {
  readonly #socket: Socket
  #head: string | undefined = ''
  #header: number[] = []
  #left = 0

  constructor(socket: Socket) {
    this.#socket = socket
  }

  read(bytes: Buffer): number {
    let at = this.#head === undefined ? 0 : this.#skipHead(bytes)
    let done = 0
    while (at < bytes.length) {
      if (this.#left === 0) {
        this.#header.push(bytes[at] ?? 0)
        at += 1
        this.#left = payloadLength(this.#header) ?? 0
        if (payloadLength(this.#header) === undefined) continue
      }
      const taken = Math.min(this.#left, bytes.length - at)
      this.#left -= taken
      at += taken
      if (this.#left === 0) done += this.#finish()
    }
    return done
  }

  #skipHead(bytes: Buffer): number {
    const before = this.#head?.length ?? 0
    const head = this.#head + bytes.toString('latin1', 0, 2048)
    const end = head.indexOf(HEADERS_END)
    this.#head = end === -1 ? head : undefined
    if (!head.startsWith('HTTP/1.1 101')) throw new Error(head)
    return end === -1 ? bytes.length : end + HEADERS_END.length - before
  }

  #finish(): number {
    const isPing = ((this.#header[0] ?? 0) & 15) === 9
    this.#header = []
    if (isPing) this.#socket.write(PONG)
    return isPing ? 0 : 1
  }
}

/**
 * Returns the payload length of a frame with this header; `undefined` if the header is incomplete.
 */
function payloadLength([first, length, ...more]: readonly number[]): number | undefined {
  if (first === undefined || length === undefined) return undefined
  const size = length === 127 ? 8 : length === 126 ? 2 : 0
  if (more.length < size) return undefined
  return size === 0 ? length : more.reduce((sum, byte) => sum * 256 + byte, 0)
}
