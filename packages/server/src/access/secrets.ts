/** A new random UUID in lower case. */
export function newId(): string {
  return crypto.randomUUID()
}
const SECRET_BYTES = 32

/** Node's own, where there is one: it answers in a microsecond, the web's by way of a thread. */
const builtin = globalThis.process?.getBuiltinModule?.('node:crypto')

/** A new secret: the prefix and 64 hexadecimal digits (256 random bits). */
export function newSecret(prefix: string): string {
  return prefix + toHex(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
}

/** What is stored of a secret: its SHA-256, in hexadecimal. */
export function hashSecret(secret: string): Promise<string> {
  return sha256(secret)
}

/** Compares in a time that does not depend on where two texts differ. */
export function equalSecrets(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let at = 0; at < other.length; at += 1) {
    difference |= (one.charCodeAt(at) || 0) ^ other.charCodeAt(at)
  }
  return difference === 0
}

/** Of the text in UTF-8, in hexadecimal. */
export async function sha256(text: string): Promise<string> {
  if (builtin !== undefined) return builtin.createHash('sha256').update(text).digest('hex')
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return toHex(new Uint8Array(digest))
}

function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}
