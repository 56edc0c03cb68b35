import { equalSecrets, hmac, newSecret } from '@ff/server/plane'
import type { SecretKeys } from './secret-keys.ts'

const RANDOM_DIGITS = 32
const MAC_DIGITS = 32
/** Separates the authentication codes from all other uses of the secret keys. */
const PURPOSE = 'ff credential v1'

/**
 * Creates session tokens and access tokens, and recognizes them without the store. A credential is
 * its prefix, 128 random bits and a message authentication code of 128 bits (HMAC-SHA-256), in
 * hexadecimal. All processes with the same secret key recognize the credentials of each other. The
 * first secret key authenticates, and every key verifies. A recognized credential can have expired
 * or be deleted.
 */
export class IssuedCredentials {
  /** The secret keys in hexadecimal. */
  readonly #keys: readonly [string, ...string[]]

  constructor([first, ...others]: SecretKeys) {
    this.#keys = [toHex(first), ...others.map(toHex)]
  }

  /** Returns a new credential: the prefix and 64 hexadecimal digits. */
  async issue(prefix: string): Promise<string> {
    const start = newSecret(prefix).slice(0, prefix.length + RANDOM_DIGITS)
    return start + (await macOf(this.#keys[0], start))
  }

  /** Returns `true` if `issue` has created this credential with one of the secret keys. */
  async isIssued(credential: string): Promise<boolean> {
    const start = credential.slice(0, -MAC_DIGITS)
    for (const key of this.#keys) {
      if (equalSecrets(credential.slice(start.length), await macOf(key, start))) return true
    }
    return false
  }
}

async function macOf(key: string, text: string): Promise<string> {
  return (await hmac(key, `${PURPOSE} ${text}`)).slice(0, MAC_DIGITS)
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
