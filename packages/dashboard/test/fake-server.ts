import { vi } from 'vitest'

/** A request that the application has sent. */
export interface SentRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: unknown
  readonly signal: AbortSignal | null
}

/** A server in place of `fetch`: it answers with the responses in their order, and keeps the requests. */
export class FakeServer {
  readonly requests: SentRequest[] = []
  readonly #responses: ((request: SentRequest) => Response | Promise<Response>)[] = []

  constructor() {
    vi.stubGlobal('fetch', async (url: string, init: RequestInit = {}) => {
      const body = typeof init.body === 'string' ? JSON.parse(init.body) : undefined
      const { method = 'GET', signal = null } = init
      const request = { method, url, headers: new Headers(init.headers), body, signal }
      this.requests.push(request)
      const answer = this.#responses.shift()
      if (answer === undefined) throw new TypeError('no response')
      return answer(request)
    })
  }

  /** Adds a response, or a function that makes it. */
  next(answer: Response | ((request: SentRequest) => Response | Promise<Response>)): this {
    this.#responses.push(typeof answer === 'function' ? answer : () => answer)
    return this
  }
}

/** A response with the envelope of the management API. */
export function reply(data: unknown, init: ResponseInit = {}): Response {
  const { status = 200 } = init
  const message = status < 300 ? 'OK' : 'refused'
  return new Response(JSON.stringify({ statusCode: status, message, data }), init)
}

/** The wire form of a log-in. */
export function logInReply(role = 'editor', id = 'user-1') {
  return {
    user: { id, email: `${id}@acme.example`, name: 'Ada', role, org_id: ORG },
    memberships: [{ org_id: ORG, name: 'Acme', role }],
    csrf_token: `csrf-of-${id}`,
    expires_at: '2030-01-01T00:00:00.000Z',
  }
}

/** The id of an organization. */
export const ORG = '11111111-1111-4111-8111-111111111111'
/** The id of a project. */
export const PROJECT = '22222222-2222-4222-8222-222222222222'
