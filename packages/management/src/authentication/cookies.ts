/** The path and security of a cookie. */
export interface CookieSettings {
  readonly path: string
  /** Whether browsers send it over encrypted connections only. */
  readonly isSecure: boolean
}

interface Cookie extends CookieSettings {
  readonly name: string
  readonly value: string
  /** 0 removes the cookie. */
  readonly maxAgeSeconds: number
}

/** The value of `Set-Cookie` for a cookie that scripts cannot read and other sites cannot post with. */
export function setCookieText({ name, value, path, maxAgeSeconds, isSecure }: Cookie): string {
  // Lax, because an identity provider's redirect back is a navigation that another site begins.
  const attributes = [`Path=${path}`, `Max-Age=${maxAgeSeconds}`, 'HttpOnly', 'SameSite=Lax']
  return [`${name}=${value}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; ')
}

/**
 * Returns the value of the cookie with this name in a `Cookie` header. `undefined` if there is none,
 * or more than one, of which another site may have set one.
 */
export function findCookie(header: string | undefined, name: string): string | undefined {
  const pairs = header?.split(';').map((pair) => pair.trim()) ?? []
  const found = pairs.filter((pair) => pair.startsWith(`${name}=`))
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined
}
