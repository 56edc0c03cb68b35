import { FlagError } from '@ff/core'
import { fromBase64 } from './base64.ts'

const KEY_BYTES = 32
const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/

type Bytes = Uint8Array<ArrayBuffer>

/**
 * The keys of 32 bytes from which a server derives other keys. The first key is used for new
 * secrets.
 */
export type SecretKeys = readonly [Bytes, ...Bytes[]]

/**
 * Parses the option `secretKey`: one or more keys, each 32 bytes in base64 or as 64 hexadecimal
 * digits. Throws `INVALID_REQUEST` if a key is malformed or there is none.
 */
export function parseSecretKeys(option: string | readonly string[]): SecretKeys {
  const [first, ...others] = [option].flat().map(parseKey)
  if (first === undefined) throw malformedKey()
  return [first, ...others]
}

/** Creates one random key, for a process without `secretKey`. */
export function randomSecretKeys(): SecretKeys {
  return [crypto.getRandomValues(new Uint8Array(KEY_BYTES))]
}

/**
 * Derives a key from each secret key. If the derivation fails, the returned promise is rejected,
 * but the rejection is not reported as unhandled.
 */
export function deriveKeys<Key>(
  [first, ...others]: SecretKeys,
  derive: (secretKey: Bytes) => Promise<Key>,
): Promise<readonly [Key, ...Key[]]> {
  const derived = Promise.all([derive(first), ...others.map(derive)])
  derived.catch(() => undefined)
  return derived
}

function parseKey(text: string): Bytes {
  if (HEX.test(text)) {
    return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  }
  if (!BASE64.test(text)) throw malformedKey()
  const bytes = fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
  if (bytes.byteLength !== KEY_BYTES) throw malformedKey()
  return bytes
}

function malformedKey(): FlagError {
  const message = 'secretKey must be 32 bytes, in base64 or as 64 hexadecimal digits.'
  return new FlagError('INVALID_REQUEST', message)
}
