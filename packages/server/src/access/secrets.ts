/** Returns a new random UUID in lower case. */
export function newId(): string {
  return crypto.randomUUID()
}
const SECRET_BYTES = 32

/**
 * Node's `crypto` module; `undefined` on other platforms. Node's module is preferred because the
 * Web Crypto API uses another thread and is much slower.
 */
const builtin = globalThis.process?.getBuiltinModule?.('node:crypto')

/** Returns a new secret: the prefix and 64 hexadecimal digits (256 random bits). */
export function newSecret(prefix: string): string {
  return prefix + toHex(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
}

/** Returns the form in which a secret is stored: its SHA-256 digest in hexadecimal. */
export function hashSecret(secret: string): Promise<string> {
  return sha256(secret)
}

/**
 * Returns `true` if two texts are equal. The duration does not depend on the position of the first
 * difference.
 */
export function equalSecrets(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let at = 0; at < other.length; at += 1) {
    difference |= (one.charCodeAt(at) || 0) ^ other.charCodeAt(at)
  }
  return difference === 0
}

/** Returns the SHA-256 digest of a text in UTF-8, in hexadecimal. */
export async function sha256(text: string): Promise<string> {
  if (builtin !== undefined) return builtin.createHash('sha256').update(text).digest('hex')
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return toHex(new Uint8Array(digest))
}

/** Returns the HMAC-SHA-256 of a text in UTF-8, in hexadecimal. */
export async function hmac(secret: string, text: string): Promise<string> {
  if (builtin !== undefined) return builtin.createHmac('sha256', secret).update(text).digest('hex')
  const encoder = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, [
    'sign',
  ])
  return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text))))
}

function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}
