import { FlagError } from '@ff/core'

/** The sender of a request: headers, address and encryption. */
export interface Client {
  /**
   * Returns the value of a header; `undefined` if it is missing. `name` must be in lower case.
   * Several values are joined by a comma.
   */
  header(name: string): string | undefined
  /** The IP address of the connection; `undefined` if it is unknown. */
  readonly address: string | undefined
  /** `true` if the connection is encrypted. */
  readonly isEncrypted: boolean
}

/**
 * Returns the address by which a client is identified; `undefined` if it is unknown. Behind a
 * trusted proxy, this is the last address in `X-Forwarded-For`, because the client can forge all
 * other addresses. An IPv6 address is reduced to its network of 64 bits, because one client can use
 * all addresses of its network.
 */
export function addressOf(client: Client, trustProxy: boolean): string | undefined {
  const address = forwarded(client, 'x-forwarded-for', trustProxy) ?? client.address
  return address === undefined ? undefined : networkOf(address)
}

/**
 * Returns `true` if the client used HTTPS, according to the trusted proxy or, if it sets no scheme,
 * this connection.
 */
export function isByHttps(client: Client, trustProxy: boolean): boolean {
  const scheme = forwarded(client, 'x-forwarded-proto', trustProxy)
  return scheme === undefined ? client.isEncrypted : scheme === 'https'
}

/**
 * Throws `FORBIDDEN` if the `Origin` header contains another host than the request. The scheme is
 * not compared, because a proxy may have terminated TLS. The default port of the scheme of the
 * origin is ignored: browsers omit it, and some proxies add it.
 */
export function assertOwnOrigin(client: Client, trustProxy: boolean): void {
  const origin = client.header('origin')
  if (origin === undefined) return
  const host = forwarded(client, 'x-forwarded-host', trustProxy) ?? client.header('host')
  const [, scheme, originHost] = /^(https?):\/\/(.+)$/.exec(origin) ?? []
  const defaultPort = scheme === 'https' ? /:443$/ : /:80$/
  if (originHost !== undefined && originHost === host?.toLowerCase().replace(defaultPort, ''))
    return
  throw new FlagError('FORBIDDEN', 'Requests from pages of another origin are refused.')
}

function forwarded(client: Client, name: string, trustProxy: boolean): string | undefined {
  const last = trustProxy ? client.header(name)?.split(',').at(-1)?.trim() : undefined
  return last === '' ? undefined : last
}

function networkOf(address: string): string {
  const plain = withoutPort(address.toLowerCase()).replace(/^::ffff:(?=\d+\.)/, '')
  if (!plain.includes(':')) return plain
  const [left = '', right] = plain.split('::')
  const [head, tail] = [left, right ?? ''].map((part) => part.split(':').filter(Boolean))
  const missing = Math.max(0, 8 - (head?.length ?? 0) - (tail?.length ?? 0))
  const groups = [...(head ?? []), ...Array<string>(missing).fill('0'), ...(tail ?? [])]
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}

/**
 * Removes the port that some proxies add. With the port, every connection would count as another
 * client.
 */
function withoutPort(address: string): string {
  return /^\[(.*)\]/.exec(address)?.[1] ?? address.replace(/^([\d.]+):\d+$/, '$1')
}
