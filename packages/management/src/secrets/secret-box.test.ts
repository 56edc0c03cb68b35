import { isFlagError } from '@ff/core'
import { describe, expect, it } from 'vitest'
import { SecretBox } from './secret-box.ts'
import { parseSecretKeys } from './secret-keys.ts'

const HEX = '0123456789abcdef'.repeat(4)
const OTHER = 'fedcba9876543210'.repeat(4)
const BASE64 = Buffer.from(HEX, 'hex').toString('base64')
const FOR = { purpose: 'webhook', id: 'w-1' }

const boxOf = (keys: readonly string[]) => new SecretBox(parseSecretKeys(keys))

async function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'done',
    (error: unknown) => (isFlagError(error) ? error.code : error),
  )
}

describe('SecretBox', () => {
  it('A secret box opens the texts that it has sealed', async () => {
    const box = boxOf([HEX])
    for (const text of ['', 'whsec_abc', 'ä\u{1f511}'.repeat(1000)]) {
      expect(await box.open(await box.seal(text, FOR), FOR)).toBe(text)
    }
  })

  it('A sealed text hides the secret and differs each time', async () => {
    const box = boxOf([HEX])
    const sealed = await Promise.all(Array.from({ length: 200 }, () => box.seal('secret', FOR)))
    expect(new Set(sealed).size).toBe(200)
    const nonces = sealed.map((each) =>
      Buffer.from(each.split('.')[2] ?? '', 'base64').subarray(0, 12),
    )
    expect(new Set(nonces.map((nonce) => nonce.toString('hex'))).size).toBe(200)
    for (const each of sealed) {
      expect(each).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9+/=]+$/)
      expect(Buffer.from(each.split('.')[2] ?? '', 'base64').includes('secret')).toBe(false)
    }
  })

  it('A sealed text cannot be opened for another record or another purpose', async () => {
    const box = boxOf([HEX])
    const sealed = await box.seal('secret', FOR)
    for (const other of [
      { ...FOR, id: 'w-2' },
      { ...FOR, purpose: 'oidc' },
    ]) {
      expect(await refusal(box.open(sealed, other))).toBe('INTERNAL')
    }
  })

  it('A sealed text that was changed, cut or sealed with another key cannot be opened', async () => {
    const box = boxOf([HEX])
    const sealed = await box.seal('secret', FOR)
    const [version, name, text = ''] = sealed.split('.')
    const bytes = Buffer.from(text, 'base64')
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      const forged = `${version}.${name}.${changed.toString('base64')}`
      expect(await refusal(box.open(forged, FOR))).toBe('INTERNAL')
    }
    for (const forged of [
      '',
      'secret',
      `v2.${name}.${text}`,
      `v1.${name}.`,
      `v1.${name}.AAAA`,
      `v1.${name}.%`,
    ]) {
      expect([forged, await refusal(box.open(forged, FOR))]).toEqual([forged, 'INTERNAL'])
    }
    expect(await refusal(boxOf([OTHER]).open(sealed, FOR))).toBe('INTERNAL')
  })

  it('A secret box seals with its first key and opens with each of its keys', async () => {
    const old = await boxOf([HEX]).seal('secret', FOR)
    const rotated = boxOf([OTHER, BASE64])
    expect(await rotated.open(old, FOR)).toBe('secret')
    const fresh = await rotated.seal('secret', FOR)
    expect(await boxOf([OTHER]).open(fresh, FOR)).toBe('secret')
    expect(await refusal(boxOf([HEX]).open(fresh, FOR))).toBe('INTERNAL')
  })

  it('A secret key must be 32 bytes in hexadecimal or base64', async () => {
    const sealed = await boxOf([HEX]).seal('secret', FOR)
    for (const key of [HEX.toUpperCase(), BASE64, Buffer.from(HEX, 'hex').toString('base64url')]) {
      expect(await boxOf([key]).open(sealed, FOR)).toBe('secret')
    }
    const wrong = [
      '',
      'secret',
      HEX.slice(2),
      `${HEX}00`,
      BASE64.slice(4),
      `${BASE64}AAAA`,
      `${HEX} `,
    ]
    for (const keys of [[], ...wrong.map((key) => [key]), [HEX, 'x']]) {
      expect(() => boxOf(keys)).toThrow(/^secretKey must be 32 bytes/)
    }
  })
})
