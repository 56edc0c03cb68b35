import type { IncomingMessage, ServerResponse } from 'node:http'
import Stripe from 'stripe'
import { type Listening, listen } from '../../../server/test/node/listening.ts'

/** A request of the Stripe library. */
export interface StripeRequest {
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
  readonly idempotencyKey: string | undefined
}

interface StripeAnswer {
  readonly status: number
  readonly body: object
}

/** The duration of a request, long enough for other requests to arrive in the meantime. */
const WORKING_MS = 20

/**
 * Emulates the routes of Stripe's API that the tests use, on loopback. A request with a repeated
 * idempotency key receives 409 while the first request is in progress, and afterwards the response
 * to the first request; with other fields it receives 400.
 */
export class FakeStripe {
  readonly client: Stripe
  readonly requests: StripeRequest[] = []
  /** The response to every request, if set. */
  refusal: StripeAnswer | undefined
  readonly #listening: Listening
  readonly #answers = new Map<string, { fields: string; answer?: StripeAnswer }>()
  #created = 0

  private constructor(listening: Listening) {
    this.#listening = listening
    this.client = new Stripe('sk_test_fake', {
      host: '127.0.0.1',
      port: listening.port,
      protocol: 'http',
      telemetry: false,
    })
  }

  static async start(): Promise<FakeStripe> {
    const listening = await listen()
    const fake = new FakeStripe(listening)
    listening.server.on('request', (request, response) => void fake.#serve(request, response))
    return fake
  }

  /** Stops listening. */
  close(): Promise<void> {
    return this.#listening.close()
  }

  /** Returns the requests to one path. */
  requestsTo(path: string): readonly StripeRequest[] {
    return this.requests.filter((request) => request.path === path)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const piece of request) text += piece
    const header = request.headers['idempotency-key']
    const idempotencyKey = typeof header === 'string' ? header : undefined
    const { status, body } = await this.#answerOnce(request.url ?? '', text, idempotencyKey)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  async #answerOnce(path: string, text: string, key: string | undefined): Promise<StripeAnswer> {
    if (this.refusal !== undefined) return this.refusal
    if (key === undefined) return this.#do(path, text, key)
    const earlier = this.#answers.get(key)
    if (earlier === undefined) {
      this.#answers.set(key, { fields: text })
      await new Promise((resolve) => setTimeout(resolve, WORKING_MS))
      const answer = this.#do(path, text, key)
      this.#answers.set(key, { fields: text, answer })
      return answer
    }
    if (earlier.fields !== text) return refused(400, 'idempotency_error', 'idempotency_error')
    return earlier.answer ?? refused(409, 'idempotency_error', 'idempotency_key_in_use')
  }

  #do(path: string, text: string, idempotencyKey: string | undefined): StripeAnswer {
    const fields = Object.fromEntries(new URLSearchParams(text))
    this.requests.push({ path, fields, idempotencyKey })
    this.#created += 1
    const id = `${path.slice(4).replaceAll('/', '_')}_${this.#created}`
    const url = `https://checkout.stripe.test/c/pay/${id}`
    switch (path) {
      case '/v1/customers':
        return { status: 200, body: { id, object: 'customer' } }
      case '/v1/checkout/sessions':
        return fields['line_items[0][price]'] === 'price_unknown'
          ? refused(400, 'invalid_request_error', 'resource_missing')
          : { status: 200, body: { id, object: 'checkout.session', url } }
      case '/v1/invoiceitems':
        return { status: 200, body: { id, object: 'invoiceitem' } }
      default:
        return refused(404, 'invalid_request_error', 'url_invalid')
    }
  }
}

function refused(status: number, type: string, code: string): StripeAnswer {
  return { status, body: { error: { type, code, message: `secret detail: ${code}` } } }
}
