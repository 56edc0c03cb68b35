import type { BrowserContext } from 'playwright-core'
import type { RunningServer } from './running-server.ts'

/** The password that tests set. */
export const PASSWORD = 'a password for the tests'

/** The response of the management API. */
export interface Answer<Data> {
  readonly status: number
  readonly data: Data
  readonly etag: string | null
}

/** What a request contains in addition to its method and path. */
export interface Sent {
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** A session of a user, with which a test prepares and checks data beside the browser. */
export class ApiSession {
  readonly url: string
  readonly #cookie: string
  readonly #csrfToken: string

  private constructor(url: string, cookie: string, csrfToken: string) {
    this.url = url
    this.#cookie = cookie
    this.#csrfToken = csrfToken
  }

  /** Redeems the one-time link of the first owner of a server, with `PASSWORD`. */
  static ofOwner({ url, link }: RunningServer): Promise<ApiSession> {
    return ApiSession.accept(url, link)
  }

  /** Redeems a one-time link (`ffl_…`), with `PASSWORD`. */
  static accept(url: string, token: string | undefined): Promise<ApiSession> {
    return ApiSession.#open(`${url}/auth/password`, { token, new_password: PASSWORD })
  }

  /** Logs a user in. */
  static logIn(url: string, email: string, password = PASSWORD): Promise<ApiSession> {
    return ApiSession.#open(`${url}/auth/login`, { email, password })
  }

  static async #open(address: string, body: object): Promise<ApiSession> {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${address}: ${response.status} ${await response.text()}`)
    const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const url = new URL(address).origin
    const me = await fetch(`${url}/auth/me`, { headers: { cookie } })
    const { data } = (await me.json()) as { data: { csrf_token: string } }
    return new ApiSession(url, cookie, data.csrf_token)
  }

  /** Sends a request to the management API. Does not throw for a refusal. */
  async send<Data>(method: string, path: string, sent: Sent = {}): Promise<Answer<Data>> {
    const { body, headers } = sent
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        cookie: this.#cookie,
        'x-csrf-token': this.#csrfToken,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const { data } = (await response.json()) as { data: Data }
    return { status: response.status, data, etag: response.headers.get('etag') }
  }

  /** Sends a request and returns the data of its response. Throws for a refusal. */
  async get<Data>(method: string, path: string, sent: Sent = {}): Promise<Data> {
    const { status, data } = await this.send<Data>(method, path, sent)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(data)}`)
    return data
  }

  /** The texts that only this session may know: the value of its cookie and the CSRF token. */
  get secrets(): readonly string[] {
    return [this.#cookie.split('=')[1] ?? '', this.#csrfToken]
  }

  /** Gives the session to a browser context, so that its pages are logged in. */
  async giveTo(context: BrowserContext): Promise<void> {
    const [name = '', value = ''] = this.#cookie.split('=')
    await context.addCookies([{ name, value, url: this.url, httpOnly: true, sameSite: 'Lax' }])
  }
}
