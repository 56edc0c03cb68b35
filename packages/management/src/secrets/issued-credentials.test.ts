import { describe, expect, it } from 'vitest'
import { IssuedCredentials } from './issued-credentials.ts'
import { parseSecretKeys } from './secret-keys.ts'

const ONE = '01'.repeat(32)
const OTHER = '02'.repeat(32)
const withKeys = (...keys: string[]) => new IssuedCredentials(parseSecretKeys(keys))

describe('IssuedCredentials', () => {
  it('An issued credential is the prefix and 64 hexadecimal digits, and each is different', async () => {
    const issued = withKeys(ONE)
    const credentials = await Promise.all(Array.from({ length: 100 }, () => issued.issue('ffs_')))
    expect(new Set(credentials).size).toBe(100)
    for (const credential of credentials) expect(credential).toMatch(/^ffs_[0-9a-f]{64}$/)
  })

  it('A credential is recognized with the key that issued it, also after a rotation of keys', async () => {
    const credential = await withKeys(ONE).issue('ffs_')
    expect(await withKeys(ONE).isIssued(credential)).toBe(true)
    expect(await withKeys(OTHER, ONE).isIssued(credential)).toBe(true)
    expect(await withKeys(OTHER).isIssued(credential)).toBe(false)
  })

  it('A credential with any other character is not recognized', async () => {
    const issued = withKeys(ONE)
    const credential = await issued.issue('ffat_')
    for (let at = 0; at < credential.length; at += 1) {
      const other = credential[at] === '0' ? '1' : '0'
      const changed = credential.slice(0, at) + other + credential.slice(at + 1)
      expect([changed, await issued.isIssued(changed)]).toEqual([changed, false])
    }
    const texts = ['', 'x', credential.slice(1), credential.slice(0, -1), `${credential}0`]
    for (const text of [...texts, 'ä'.repeat(10_240)])
      expect(await issued.isIssued(text)).toBe(false)
  })
})
