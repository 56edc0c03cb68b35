import { FlagError } from '@ff/core'
import { fromBase64, toBase64 } from './base64.ts'
import { deriveKeys, type SecretKeys } from './secret-keys.ts'

/** What a sealed text is for: it opens for nothing else. */
export interface SealedFor {
  /** Such as `webhook`. */
  readonly purpose: string
  /** Of the record that it belongs to. */
  readonly id: string
}

type AesKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>
type Bytes = Uint8Array<ArrayBuffer>

interface Key {
  /** Names the key in sealed text, without revealing it. */
  readonly name: string
  readonly key: AesKey
}

const VERSION = 'v1'
const NONCE_BYTES = 12
const NAME_DIGITS = 8

/**
 * Keeps secrets that must be read back, such as those by which webhooks are signed: AES-256-GCM,
 * a random nonce for each. The first key seals; every key opens what it has sealed, so that a
 * new one can be put before an old one.
 */
export class SecretBox {
  readonly #keys: Promise<readonly [Key, ...Key[]]>

  constructor(keys: SecretKeys) {
    this.#keys = deriveKeys(keys, importKey)
  }

  /** The text, sealed: `v1.key.bytes`. */
  async seal(text: string, sealedFor: SealedFor): Promise<string> {
    const [{ name, key }] = await this.#keys
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
    const algorithm = { name: 'AES-GCM', iv, additionalData: labelOf(sealedFor) }
    const sealed = await crypto.subtle.encrypt(algorithm, key, new TextEncoder().encode(text))
    return `${VERSION}.${name}.${toBase64(new Uint8Array([...iv, ...new Uint8Array(sealed)]))}`
  }

  /** The text that was sealed. Throws `INTERNAL` when no key opens it, or it is for another use. */
  async open(sealed: string, sealedFor: SealedFor): Promise<string> {
    const [version, name, text = ''] = sealed.split('.')
    const found = (await this.#keys).find((each) => each.name === name)
    if (version !== VERSION || found === undefined) {
      throw new FlagError('INTERNAL', 'A secret was sealed with a key that is not here.')
    }
    try {
      const bytes = fromBase64(text)
      const iv = bytes.subarray(0, NONCE_BYTES)
      const algorithm = { name: 'AES-GCM', iv, additionalData: labelOf(sealedFor) }
      const opened = await crypto.subtle.decrypt(algorithm, found.key, bytes.subarray(NONCE_BYTES))
      return new TextDecoder().decode(opened)
    } catch (cause) {
      throw new FlagError('INTERNAL', 'A sealed secret is damaged.', { cause })
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
