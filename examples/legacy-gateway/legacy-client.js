// @ts-check
// A client with the behaviour of the older clients, and with shorter times for the check.
import { WebSocket } from 'ws'

/** The close codes after which an older client does not connect again. */
const FINAL_CODES = [1008, 4001]

/** A client that connects again until a close code is final. */
export class LegacyClient {
  /** The values of the last `flags` message, which replace all earlier ones. */
  values = /** @type {Record<string, unknown> | undefined} */ (undefined)
  /** The close codes of all sockets until now. */
  codes = /** @type {number[]} */ ([])
  pongs = 0
  isFinished = false
  #url
  #context
  #socket = /** @type {WebSocket | undefined} */ (undefined)
  #hasSentContext = false

  /**
   * @param {string} url The URL of the gateway, with the scheme `ws`.
   * @param {{ apiKey: string, context: object }} options
   */
  constructor(url, { apiKey, context }) {
    this.#url = `${url}/ws/sdk${apiKey === '' ? '' : `?apiKey=${apiKey}`}`
    this.#context = context
    this.#connect()
  }

  /** @param {string | Buffer} data */
  send(data) {
    this.#socket?.send(data)
  }

  stop() {
    this.isFinished = true
    this.#socket?.close()
  }

  #connect() {
    this.#hasSentContext = false
    const socket = new WebSocket(this.#url)
    const pings = setInterval(() => {
      if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}')
    }, 200)
    this.#socket = socket
    socket.on('message', (data) => this.#receive(JSON.parse(data.toString())))
    socket.on('error', () => undefined)
    socket.on('close', (code) => {
      clearInterval(pings)
      this.codes.push(code)
      if (FINAL_CODES.includes(code)) this.isFinished = true
      if (!this.isFinished) setTimeout(() => this.#connect(), 100)
    })
  }

  /** @param {{ type?: string, flags?: Record<string, unknown> }} message */
  #receive(message) {
    if (message.type === 'pong') this.pongs += 1
    if (message.flags === undefined) return
    this.values = message.flags
    if (this.#hasSentContext) return
    this.#hasSentContext = true
    this.send(JSON.stringify({ type: 'context', context: this.#context }))
  }
}
