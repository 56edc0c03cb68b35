/** The path and the security of a cookie. */
export interface CookieSettings {
  readonly path: string
  /** `true` if browsers send the cookie over encrypted connections only. */
  readonly isSecure: boolean
}

interface Cookie extends CookieSettings {
  readonly name: string
  readonly value: string
  /** The lifetime of the cookie; 0 removes the cookie. */
  readonly maxAgeSeconds: number
}

/**
 * Returns the value of `Set-Cookie` for a cookie that scripts cannot read and that browsers do not
 * add to POST requests from other sites.
 */
export function setCookieText({ name, value, path, maxAgeSeconds, isSecure }: Cookie): string {
  // `Lax`, because the redirect from an identity provider is a navigation from another site.
  const attributes = [`Path=${path}`, `Max-Age=${maxAgeSeconds}`, 'HttpOnly', 'SameSite=Lax']
  return [`${name}=${value}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; ')
}

/**
 * Returns the value of the cookie with this name in a `Cookie` header; `undefined` if there is no
 * such cookie, or if there are several, because another site could have set one of them.
 */
export function findCookie(header: string | undefined, name: string): string | undefined {
  const pairs = header?.split(';').map((pair) => pair.trim()) ?? []
  const found = pairs.filter((pair) => pair.startsWith(`${name}=`))
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined
}
