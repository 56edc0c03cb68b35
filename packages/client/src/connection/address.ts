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
 * text from a file ends with a line break. Throws a `TypeError` if `url` does not begin with `http`,
 * or has a password, a query or a fragment, and
 * if `sdkKey` is empty or contains other characters than those of SDK keys.
 */
export function addressIn(options: { readonly url?: unknown; readonly sdkKey?: unknown }): Address {
  const [url, sdkKey] = [options?.url, options?.sdkKey].map((text) =>
    typeof text === 'string' ? text.replace(SPACE, '') : '',
  ) as [string, string]
  // Messages contain the URL, so that it must not contain secrets. They do not contain the key.
  const isUrl = /^https?:[^?#@]+$/.test(url)
  if (!isUrl || !/^[\w-]+$/.test(sdkKey)) {
    throw new TypeError(
      isUrl
        ? '`sdkKey` must only have letters, digits, _ and -'
        : '`url` must begin with http and have no ?, # or @',
    )
  }
  return { url: url.replace(/\/+$/, ''), sdkKey }
}
