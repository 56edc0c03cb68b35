import { connect, type Socket } from 'node:net'
import type { UserContext } from '../../../core/bench/workload.ts'

/** The server under test. */
export interface Target {
  readonly port: number
  readonly sdkKey: string
}

/** The parameters of one round. */
export interface RoundSpec {
  readonly port: number
  readonly connections: number
  readonly requests: number
  /** `true` to send the current entity tags, so that every response is 304. */
  readonly isConditional: boolean
}

/** The result of one round. */
export interface Round {
  readonly requests: number
  readonly seconds: number
  /** The median latency in milliseconds. */
  readonly p50: number
  /** The 99th percentile of the latency in milliseconds. */
  readonly p99: number
  /** The share of its core that the load process has used. */
  readonly cpuShare: number
}

/** Returns the bytes of a request, with the headers that browsers and SDKs send. */
function requestBytes({ sdkKey }: Target, context: UserContext, etag?: string): Buffer {
  const body = JSON.stringify({ context })
  const head = [
    'POST /evaluator/evaluate HTTP/1.1',
    'Host: flags.example.com',
    `x-api-key: ${sdkKey}`,
    'Content-Type: application/json',
    'Accept: */*',
    ...(etag === undefined ? [] : [`If-None-Match: ${etag}`]),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/**
 * Sends prepared requests over keep-alive connections, one at a time on each. Reads only as much of
 * a response as is needed to find its end, because the load must use less CPU than the server.
 */
export class Load {
  readonly #plain: readonly Buffer[]
  #conditional: readonly Buffer[] = []
  #turn = 0

  private constructor(plain: readonly Buffer[]) {
    this.#plain = plain
  }

  /** Sends one request for each context to read its entity tag. */
  static async prepare(target: Target, contexts: readonly UserContext[]): Promise<Load> {
    const load = new Load(contexts.map((context) => requestBytes(target, context)))
    const conditional: Buffer[] = []
    const connection = await Connection.open(target.port)
    for (const [index, context] of contexts.entries()) {
      const answer = await connection.ask(load.#plain[index] ?? Buffer.alloc(0))
      const etag = /^ETag: (.*)\r$/m.exec(answer.toString())?.[1]
      if (etag === undefined) throw new Error(`The response has no entity tag: ${answer}`)
      conditional.push(requestBytes(target, context, etag))
    }
    connection.close()
    load.#conditional = conditional
    return load
  }

  /** Returns the whole response for the first context. */
  async sample({
    port,
    isConditional,
  }: Pick<RoundSpec, 'port' | 'isConditional'>): Promise<string> {
    const connection = await Connection.open(port)
    const [first = Buffer.alloc(0)] = isConditional ? this.#conditional : this.#plain
    const answer = await connection.ask(first)
    connection.close()
    return answer.toString()
  }

  async round({ port, connections, isConditional, ...spec }: RoundSpec): Promise<Round> {
    const requests = isConditional ? this.#conditional : this.#plain
    const all = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)))
    const latencies: number[] = []
    const cpuBefore = process.cpuUsage()
    const startedAt = performance.now()
    let left = spec.requests
    const next = () => {
      left -= 1
      return left < 0 ? undefined : requests[this.#turn++ % requests.length]
    }
    const status = isConditional ? '304' : '200'
    await Promise.all(all.map((connection) => connection.repeat(next, { latencies, status })))
    const elapsed = performance.now() - startedAt
    const { user, system } = process.cpuUsage(cpuBefore)
    for (const connection of all) connection.close()
    latencies.sort((left, right) => left - right)
    return {
      requests: latencies.length,
      seconds: elapsed / 1000,
      p50: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
      p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
      cpuShare: (user + system) / 1000 / elapsed,
    }
  }
}

interface Repetition {
  readonly latencies: number[]
  readonly status: string
}

class Connection {
  readonly #socket: Socket

  private constructor(socket: Socket) {
    this.#socket = socket
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => resolve(new Connection(socket)))
    })
  }

  close(): void {
    this.#socket.removeAllListeners('data')
    this.#socket.destroy()
  }

  ask(request: Buffer): Promise<Buffer> {
    return new Promise((resolve) => {
      const pieces: Buffer[] = []
      const take = (piece: Buffer) => {
        pieces.push(piece)
        const whole = Buffer.concat(pieces)
        if (whole.length < lengthOf(whole)) return
        this.#socket.off('data', take)
        resolve(whole)
      }
      this.#socket.on('data', take)
      this.#socket.write(request)
    })
  }

  /**
   * Sends the next request when the previous response is complete, until `next` returns
   * `undefined`.
   */
  repeat(next: () => Buffer | undefined, { latencies, status }: Repetition): Promise<void> {
    return new Promise((resolve, reject) => {
      let sentAt = performance.now()
      let missing = 0
      const send = () => {
        const request = next()
        if (request === undefined) resolve()
        else this.#socket.write(request)
      }
      this.#socket.on('close', () => reject(new Error('The server has closed a connection')))
      this.#socket.on('data', (piece) => {
        if (missing === 0) {
          if (piece.toString('latin1', 9, 12) !== status)
            reject(new Error(`Unexpected response: ${piece}`))
          missing = lengthOf(piece)
        }
        missing -= piece.length
        if (missing > 0) return
        missing = 0
        const now = performance.now()
        latencies.push(now - sentAt)
        sentAt = now
        send()
      })
      send()
    })
  }
}

/** Returns the length of a response, headers and body; infinite if the headers are incomplete. */
function lengthOf(answer: Buffer): number {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd === -1) return Number.POSITIVE_INFINITY
  const at = answer.indexOf('Content-Length: ')
  const length =
    at === -1 || at > headEnd ? 0 : Number.parseInt(answer.toString('latin1', at + 16, at + 26), 10)
  return headEnd + 4 + length
}
