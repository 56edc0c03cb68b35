import { equalSecrets, newSecret } from '@ff/server/plane'
import { deriveSigningKeys, type SecretKeys, type SigningKeys } from './secret-keys.ts'

const RANDOM_DIGITS = 32
const MAC_DIGITS = 32
/** Separates the derived keys from all other uses of the secret keys. */
const PURPOSE = 'ff credential v1'

/**
 * Creates session tokens and access tokens, and recognizes them without the store. A credential is
 * its prefix, 128 random bits and a message authentication code of 128 bits, in hexadecimal. All
 * processes with the same secret key recognize the credentials of each other. The first secret key
 * authenticates, and every key verifies. A recognized credential can have expired or be deleted.
 */
export class IssuedCredentials {
  readonly #keys: SigningKeys

  constructor(secretKeys: SecretKeys) {
    this.#keys = deriveSigningKeys(secretKeys, PURPOSE)
  }

  /** Returns a new credential: the prefix and 64 hexadecimal digits. */
  async issue(prefix: string): Promise<string> {
    const start = newSecret(prefix).slice(0, prefix.length + RANDOM_DIGITS)
    const [key] = await this.#keys
    return start + (await macOf(key, start))
  }

  /** Returns `true` if `issue` has created this credential with one of the secret keys. */
  async isIssued(credential: string): Promise<boolean> {
    const start = credential.slice(0, -MAC_DIGITS)
    for (const key of await this.#keys) {
      if (equalSecrets(credential.slice(start.length), await macOf(key, start))) return true
    }
    return false
  }
}

async function macOf(key: Awaited<SigningKeys>[0], text: string): Promise<string> {
  const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text))
  const digits = Array.from(new Uint8Array(mac), (byte) => byte.toString(16).padStart(2, '0'))
  return digits.join('').slice(0, MAC_DIGITS)
}
