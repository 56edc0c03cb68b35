/** A server, and the SDK key that it accepts. */
export interface Address {
  /** The base URL of the server, without a slash at the end. */
  readonly url: string
  readonly sdkKey: string
}

/** White space. Unlike `trim`, it includes the line break U+0085. */
const SPACE = /^[\s\x85]+|[\s\x85]+$/g

/**
 * Returns the address in the options of a client. White space around its parts is removed, because a
 * text from a file ends with a line break. Throws a `TypeError` if `url` does not begin with `http`
 * or has a password, a query or a fragment, or if `sdkKey` is empty or contains other characters
 * than letters, digits, `_` and `-`.
 */
export function addressIn(options: { readonly url?: unknown; readonly sdkKey?: unknown }): Address {
  const url = trimmed(options?.url)
  // Messages contain the URL, so that it must not contain secrets. They do not contain the key.
  if (!/^https?:[^?#@]+$/.test(url)) {
    throw new TypeError('`url` must begin with http and have no ?, # or @')
  }
  const sdkKey = trimmed(options.sdkKey)
  if (!/^[\w-]+$/.test(sdkKey)) {
    throw new TypeError('`sdkKey` must only have letters, digits, _ and -')
  }
  return { url: url.replace(/\/+$/, ''), sdkKey }
}

function trimmed(text: unknown): string {
  return typeof text === 'string' ? text.replace(SPACE, '') : ''
}
