/** The last response of a visit. */
export interface Page {
  readonly url: URL
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

interface Cookie {
  readonly value: string
  readonly path: string
}

const MOST_REDIRECTS = 12

/** A client that follows redirects and stores cookies by path, for a single host. */
export class Browser {
  readonly cookies = new Map<string, Cookie>()

  /**
   * Follows redirects until a response has no redirect, or `isTheEnd` returns `true` for the next
   * URL, which is then not requested.
   */
  async visit(address: string | URL, isTheEnd = (_next: URL) => false): Promise<Page> {
    let url = new URL(address)
    for (let hop = 0; hop < MOST_REDIRECTS; hop += 1) {
      const page = await this.send('GET', url)
      const location = page.headers.get('location')
      const next = location === null ? undefined : new URL(location, url)
      if (next === undefined || isTheEnd(next)) return { ...page, url: next ?? url }
      url = next
    }
    throw new Error(`There were too many redirects, the last one to ${url}.`)
  }

  /** Sends a request with the cookies that match its path. */
  async send(
    method: string,
    address: string | URL,
    { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
  ): Promise<Page> {
    const url = new URL(address)
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        cookie: this.#cookiesFor(url.pathname),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    for (const cookie of response.headers.getSetCookie()) this.#keep(cookie, url)
    const { status } = response
    return { url, status, headers: response.headers, text: await response.text() }
  }

  #cookiesFor(pathname: string): string {
    const isFor = ({ path }: Cookie) =>
      pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
    const sent = [...this.cookies].filter(([, cookie]) => isFor(cookie))
    return sent.map(([name, { value }]) => `${name}=${value}`).join('; ')
  }

  #keep(text: string, url: URL): void {
    const [pair = '', ...attributes] = text.split(/; ?/)
    const [name = ''] = pair.split('=')
    const attribute = (wanted: string) =>
      attributes.find((each) => each.toLowerCase().startsWith(`${wanted}=`))?.split('=')[1]
    const directory = url.pathname.slice(0, url.pathname.lastIndexOf('/')) || '/'
    const expires = Date.parse(attribute('expires') ?? '')
    if (attribute('max-age') === '0' || expires < Date.now()) this.cookies.delete(name)
    else {
      const path = attribute('path') ?? directory
      this.cookies.set(name, { value: pair.slice(name.length + 1), path })
    }
  }
}
