import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Listening, listen } from '../../../server/test/node/listening.ts'

/** A request that a receiver has received. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Sends a response. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** A receiver of webhook messages on a free loopback port. */
export class Receiver {
  readonly received: Received[] = []
  /** Responds to the next requests; by default with 204. */
  answer: Answer = (response) => response.writeHead(204).end()
  readonly #listening: Listening

  private constructor(listening: Listening) {
    this.#listening = listening
  }

  static async start(): Promise<Receiver> {
    const listening = await listen((request, response) => {
      void text(request).then((body) => {
        const { method = '', url: path = '', headers } = request
        receiver.received.push({ method, path, headers, body })
        receiver.answer(response, request)
      })
    })
    const receiver = new Receiver(listening)
    return receiver
  }

  get url(): string {
    return this.#listening.url
  }

  get port(): number {
    return this.#listening.port
  }

  close(): Promise<void> {
    return this.#listening.close()
  }
}

/** Returns a function that responds with a status and headers. */
export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (response) => response.writeHead(code, headers).end('not to be shown')
}
