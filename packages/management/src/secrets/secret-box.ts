import { FlagError } from '@ff/core'
import { fromBase64, toBase64 } from './base64.ts'
import { deriveKeys, type SecretKeys } from './secret-keys.ts'

/** The use of a sealed text. The text can be opened only with the same purpose and id. */
export interface SealedFor {
  /** The kind of secret, such as `webhook`. */
  readonly purpose: string
  /** The id of the record that the secret belongs to. */
  readonly id: string
}

type AesKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>
type Bytes = Uint8Array<ArrayBuffer>

interface Key {
  /** Identifies the key in sealed text without revealing it. */
  readonly name: string
  readonly key: AesKey
}

const VERSION = 'v1'
const NONCE_BYTES = 12
const NAME_DIGITS = 8

/**
 * Encrypts secrets for storage, such as those that sign webhook messages, with AES-256-GCM and a
 * random nonce. The first key encrypts new secrets. Each key decrypts the secrets that were
 * encrypted with it. To replace a key, put the new one before the old one.
 */
export class SecretBox {
  readonly #keys: Promise<readonly [Key, ...Key[]]>

  constructor(keys: SecretKeys) {
    this.#keys = deriveKeys(keys, importKey)
  }

  /**
   * Encrypts a text. Returns `v1.`, the name of the key, `.`, and the encrypted bytes in base64.
   */
  async seal(text: string, sealedFor: SealedFor): Promise<string> {
    const [{ name, key }] = await this.#keys
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
    const algorithm = { name: 'AES-GCM', iv, additionalData: labelOf(sealedFor) }
    const sealed = await crypto.subtle.encrypt(algorithm, key, new TextEncoder().encode(text))
    return `${VERSION}.${name}.${toBase64(new Uint8Array([...iv, ...new Uint8Array(sealed)]))}`
  }

  /** Returns `true` if a sealed text was encrypted with one of the keys. */
  async hasKeyOf(sealed: string): Promise<boolean> {
    const [, name] = sealed.split('.')
    return (await this.#keys).some((each) => each.name === name)
  }

  /**
   * Decrypts a sealed text. Throws `INTERNAL` if the text was sealed with another key or for
   * another use, or if it is damaged.
   */
  async open(sealed: string, sealedFor: SealedFor): Promise<string> {
    const [version, name, text = ''] = sealed.split('.')
    const found = (await this.#keys).find((each) => each.name === name)
    if (version !== VERSION || found === undefined) {
      throw new FlagError('INTERNAL', 'The secretKey of a stored secret is not configured.')
    }
    try {
      const bytes = fromBase64(text)
      const iv = bytes.subarray(0, NONCE_BYTES)
      const algorithm = { name: 'AES-GCM', iv, additionalData: labelOf(sealedFor) }
      const opened = await crypto.subtle.decrypt(algorithm, found.key, bytes.subarray(NONCE_BYTES))
      return new TextDecoder().decode(opened)
    } catch (cause) {
      throw new FlagError('INTERNAL', 'A sealed secret is damaged or belongs to another record.', {
        cause,
      })
    }
  }
}

function labelOf({ purpose, id }: SealedFor): Bytes {
  return new TextEncoder().encode(`${purpose}:${id}`)
}

async function importKey(bytes: Bytes): Promise<Key> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const name = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const key = await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
  return { name: name.slice(0, NAME_DIGITS), key }
}
