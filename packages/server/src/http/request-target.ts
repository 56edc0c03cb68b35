/** The path and the query of a request below the server's base path. */
export interface RequestTarget {
  /** Percent-encoded as it was sent; at least `/`. */
  readonly path: string
  /** Without the question mark; empty when there is none. */
  readonly query: string
}

/**
 * Returns the part of a request's address below `basePath`; `undefined` if the address is elsewhere.
 * Takes a path or, as proxies send it, a whole URL.
 */
export function targetBelow(basePath: string, address: string): RequestTarget | undefined {
  const local = address.startsWith('/') ? address : address.replace(/^https?:\/\/[^/?#]*/i, '')
  const fragment = local.indexOf('#')
  const shown = fragment === -1 ? local : local.slice(0, fragment)
  const mark = shown.indexOf('?')
  const whole = mark === -1 ? shown : shown.slice(0, mark)
  const query = mark === -1 ? '' : shown.slice(mark + 1)
  if (!whole.startsWith(basePath)) return undefined
  const path = whole.slice(basePath.length)
  if (path === '') return { path: '/', query }
  return path.startsWith('/') ? { path, query } : undefined
}
