import { FlagError } from '@ff/core'

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
  /** Names the key in what it has sealed; tells nothing of it. */
  readonly name: string
  readonly key: AesKey
}

const VERSION = 'v1'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const NAME_DIGITS = 8
const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/

/**
 * Keeps secrets that must be read back, such as those by which webhooks are signed: AES-256-GCM,
 * a random nonce for each. The first key seals; every key opens what it has sealed, so that a
 * new one can be put before an old one.
 */
export class SecretBox {
  readonly #keys: Promise<readonly [Key, ...Key[]]>

  private constructor(keys: readonly [Bytes, ...Bytes[]]) {
    const [first, ...others] = keys
    const imported = Promise.all([importKey(first), ...others.map(importKey)])
    // Whoever seals or opens hears of it.
    imported.catch(() => undefined)
    this.#keys = imported as Promise<readonly [Key, ...Key[]]>
  }

  /**
   * From keys of 32 bytes, each in base64 or as 64 hexadecimal digits. Throws `INVALID_REQUEST`
   * for what is none.
   */
  static of(keys: readonly string[]): SecretBox {
    const [first, ...others] = keys.map(parseKey)
    if (first === undefined) throw notAKey()
    return new SecretBox([first, ...others])
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

function parseKey(text: string): Bytes {
  if (HEX.test(text)) {
    return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  }
  if (!BASE64.test(text)) throw notAKey()
  const bytes = fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
  if (bytes.byteLength !== KEY_BYTES) throw notAKey()
  return bytes
}

function notAKey(): FlagError {
  const message = 'secretKey must be 32 bytes, in base64 or as 64 hexadecimal digits.'
  return new FlagError('INVALID_REQUEST', message)
}

/** Bytes as base64 text. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

/** The bytes of base64 text. Throws for what is none. */
export function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
