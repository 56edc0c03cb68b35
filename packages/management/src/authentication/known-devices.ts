import { type Client, type Clock, newSecret, sha256 } from '@ff/server/plane'
import { fromBase64, toBase64 } from '../secrets/base64.ts'
import { deriveKeys, type SecretKeys } from '../secrets/secret-keys.ts'
import { type CookieSettings, findCookie, setCookieText } from './cookies.ts'

const COOKIE_PREFIX = 'ff_device_'
const NAME_DIGITS = 8
const LIFETIME_MS = 365 * 24 * 60 * 60_000
const ID_DIGITS = 32
const COOKIE = /^([0-9a-f]{32})\.(\d{1,15})\.([A-Za-z0-9+/]{43}=)$/
/** Separates the derived keys from all other uses of the secret keys. */
const PURPOSE = 'ff device cookie v1'

/** The signed content of a device cookie: the device, the time of issue and the account. */
type Signed = Readonly<Record<'id' | 'issuedAt' | 'email', string>>
type SigningKey = Awaited<ReturnType<typeof crypto.subtle.deriveKey>>

interface KnownDevicesOptions {
  readonly clock: Clock
  readonly secretKeys: SecretKeys
}

/**
 * Signs and recognizes device cookies. A browser has one device cookie per account that logged in
 * with this browser within the last year. The `mac` of the value, `id.issuedAt.mac`, authenticates
 * the id, the time of issue and the e-mail address of the account. The first secret key signs, and
 * every key verifies. The server stores nothing.
 */
export class KnownDevices {
  readonly #clock: Clock
  readonly #keys: Promise<readonly [SigningKey, ...SigningKey[]]>

  constructor({ clock, secretKeys }: KnownDevicesOptions) {
    this.#clock = clock
    this.#keys = deriveKeys(secretKeys, deriveKey)
  }

  /**
   * Returns the value of `Set-Cookie` with a new device id, which makes a browser a known device.
   */
  async cookieFor(email: string, settings: CookieSettings): Promise<string> {
    const id = newSecret('').slice(0, ID_DIGITS)
    const issuedAt = String(this.#clock.now())
    const [key] = await this.#keys
    const mac = await crypto.subtle.sign('HMAC', key, signedBytes({ id, issuedAt, email }))
    return setCookieText({
      ...settings,
      name: await cookieNameOf(email),
      value: `${id}.${issuedAt}.${toBase64(new Uint8Array(mac))}`,
      maxAgeSeconds: LIFETIME_MS / 1000,
    })
  }

  /**
   * Returns the id of the known device that sent a request; `undefined` if the request has no valid
   * device cookie of the account.
   */
  async find(caller: Pick<Client, 'header'>, email: string): Promise<string | undefined> {
    const header = caller.header('cookie')
    if (header === undefined) return undefined
    const value = findCookie(header, await cookieNameOf(email)) ?? ''
    const [, id = '', issuedAt = '', mac = ''] = COOKIE.exec(value) ?? []
    const age = this.#clock.now() - Number(issuedAt)
    if (id === '' || age < 0 || age >= LIFETIME_MS) return undefined
    const signed = signedBytes({ id, issuedAt, email })
    for (const key of await this.#keys) {
      if (await crypto.subtle.verify('HMAC', key, fromBase64(mac), signed)) return id
    }
    return undefined
  }
}

async function deriveKey(secretKey: SecretKeys[0]): Promise<SigningKey> {
  const secret = await crypto.subtle.importKey('raw', secretKey, 'HKDF', false, ['deriveKey'])
  const info = new TextEncoder().encode(PURPOSE)
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  const signing = { name: 'HMAC', hash: 'SHA-256', length: 256 }
  return crypto.subtle.deriveKey(derivation, secret, signing, false, ['sign', 'verify'])
}

async function cookieNameOf(email: string): Promise<string> {
  return COOKIE_PREFIX + (await sha256(email.toLowerCase())).slice(0, NAME_DIGITS)
}

/** Returns unambiguous bytes to sign: neither `id` nor `issuedAt` contains a full stop. */
function signedBytes({ id, issuedAt, email }: Signed): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${id}.${issuedAt}.${email.toLowerCase()}`)
}
