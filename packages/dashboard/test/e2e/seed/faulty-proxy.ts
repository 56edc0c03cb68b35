import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

const CUT_MS = 1000

/** What a proxy does to event streams: cuts them every second, or holds them back. */
export type StreamFault = 'cut' | 'buffered'

/** A proxy in front of a server that disturbs the event streams. */
export class FaultyProxy {
  /** The number of event streams that were opened. */
  streams = 0
  readonly #server: Server
  readonly #upstream: string
  readonly #fault: StreamFault

  private constructor(upstream: string, fault: StreamFault) {
    this.#upstream = upstream
    this.#fault = fault
    this.#server = createServer((request, response) => this.#pass(request, response))
  }

  /** Starts a proxy on a free port. It is closed after the test. */
  static async start(upstream: string, fault: StreamFault): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(upstream, fault)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    onTestFinished(() => {
      proxy.#server.close()
      proxy.#server.closeAllConnections()
    })
    return proxy
  }

  /** The URL of the proxy. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method, headers, url = '' } = incoming
    const address = new URL(url, this.#upstream)
    const isStream = /\/events(?:\?|$)/.test(url)
    if (isStream) this.streams += 1
    const passed = request(address, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      if (!isStream) {
        answer.pipe(outgoing)
      } else if (this.#fault === 'cut') {
        answer.pipe(outgoing)
        setTimeout(() => outgoing.destroy(), CUT_MS)
      }
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  }
}
