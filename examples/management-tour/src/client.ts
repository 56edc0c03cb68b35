import assert from 'node:assert/strict'
import type { OpenApi } from './open-api.ts'

/** The data of a response. The tour accesses it without types, because the schema is checked. */
// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document describes the type
export type Data = any

interface Request {
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** The expected status; 200 by default. */
  readonly status?: number
}

/** An HTTP client that authenticates by session cookie, access token or SDK key. */
export class Client {
  readonly #url: string
  readonly #openApi: OpenApi
  readonly #headers = new Headers()

  constructor(url: string, openApi: OpenApi, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url
    this.#openApi = openApi
    for (const [name, value] of Object.entries(headers)) this.#headers.set(name, value)
  }

  /** Sends a request and returns the body of the response. Throws if the response is unexpected. */
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
    const answer = await response.json()
    const place = `${method} ${address}: ${JSON.stringify(answer)}`
    assert.equal(response.status, status, place)
    const path = address.split('?')[0] ?? ''
    this.#openApi.check({ method, path, status: response.status, body: answer })
    const cookie = response.headers.get('set-cookie')
    if (cookie !== null) this.#headers.set('cookie', cookie.split(';')[0] ?? '')
    return answer
  }

  /** Sends a management request and returns `data`. By default expects 201 for POST, else 200. */
  async manage(method: string, address: string, request: Request = {}): Promise<Data> {
    const status = request.status ?? (method === 'POST' ? 201 : 200)
    return (await this.send(method, address, { ...request, status })).data
  }

  /** Logs in. Later requests contain the session cookie and the CSRF token. */
  async logIn(email: string, password: string): Promise<Data> {
    const body = { email, password }
    const { data } = await this.send('POST', '/auth/login', { body })
    this.#headers.set('x-csrf-token', data.csrf_token)
    return data
  }
}
