import { FlagError } from '@ff/core'

/** The sender of a request: headers, address and encryption. */
export interface Client {
  /** `name` in lower case; several values are joined by a comma. */
  header(name: string): string | undefined
  /** The IP address of the connection; `undefined` if it is not known. */
  readonly address: string | undefined
  /** Whether the connection is encrypted. */
  readonly isEncrypted: boolean
}

/**
 * Returns the address that counts as one client. Behind a trusted proxy it is the last one in
 * `X-Forwarded-For`, the only one that the proxy has written. Of an IPv6 address it is the network of
 * 64 bits, because a client has all addresses of its network.
 */
export function addressOf(client: Client, trustProxy: boolean): string | undefined {
  const address = forwarded(client, 'x-forwarded-for', trustProxy) ?? client.address
  return address === undefined ? undefined : networkOf(address)
}

/** Whether the client's browser came by HTTPS, as far as this server or its proxy knows. */
export function isByHttps(client: Client, trustProxy: boolean): boolean {
  const scheme = forwarded(client, 'x-forwarded-proto', trustProxy)
  return scheme === undefined ? client.isEncrypted : scheme === 'https'
}

/**
 * Throws `FORBIDDEN` when a browser says that the page which sends this is of another origin.
 * The scheme is not compared: a proxy may have taken it off.
 */
export function assertOwnOrigin(client: Client, trustProxy: boolean): void {
  const origin = client.header('origin')
  if (origin === undefined) return
  const host = forwarded(client, 'x-forwarded-host', trustProxy) ?? client.header('host')
  if (host !== undefined && /^https?:\/\/(.+)$/.exec(origin)?.[1] === host.toLowerCase()) return
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

/** Some proxies add the port, which would make every connection another client. */
function withoutPort(address: string): string {
  return /^\[(.*)\]/.exec(address)?.[1] ?? address.replace(/^([\d.]+):\d+$/, '$1')
}
