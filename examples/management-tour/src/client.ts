import assert from 'node:assert/strict'
import type { OpenApi } from './open-api.ts'

/** An answer's data; the tour looks into it freely, for every answer is checked by its schema. */
// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document says what it is
export type Data = any

interface Request {
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** The status that is expected; 200 unless said otherwise. */
  readonly status?: number
}

/** Somebody who talks to the server, known by a session's cookie, a token or an SDK key. */
export class Client {
  readonly #url: string
  readonly #openApi: OpenApi
  readonly #headers = new Headers()

  constructor(url: string, openApi: OpenApi, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url
    this.#openApi = openApi
    for (const [name, value] of Object.entries(headers)) this.#headers.set(name, value)
  }

  /** Answers the body of one request, whose status and shape must be what is expected. */
  async send(method: string, address: string, request: Request = {}): Promise<Data> {
    const { body, status = 200 } = request
    const headers = new Headers(this.#headers)
    for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value)
    if (body !== undefined) headers.set('content-type', 'application/json')
    const response = await fetch(this.#url + address, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answered = await response.json()
    const place = `${method} ${address}: ${JSON.stringify(answered)}`
    assert.equal(response.status, status, place)
    const path = address.split('?')[0] ?? ''
    this.#openApi.check({ method, path, status: response.status, body: answered })
    const cookie = response.headers.get('set-cookie')
    if (cookie !== null) this.#headers.set('cookie', cookie.split(';')[0] ?? '')
    return answered
  }

  /** The same for management, whose answers are in an envelope; answers what is in it. */
  async manage(method: string, address: string, request: Request = {}): Promise<Data> {
    const status = request.status ?? (method === 'POST' ? 201 : 200)
    return (await this.send(method, address, { ...request, status })).data
  }

  /** Logs in: from now on the session's cookie and token go along. */
  async logIn(email: string, password: string): Promise<Data> {
    const body = { email, password }
    const { data } = await this.send('POST', '/auth/login', { body })
    this.#headers.set('x-csrf-token', data.csrf_token)
    return data
  }
}
