import crypto, { type ScryptOptions, scryptSync } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { isFlagError } from '@ff/core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'

const CHEAP = { log2N: 4, r: 8, p: 1 }
const PASSWORD = 'correct horse battery staple'

type ScryptCallback = (error: Error | null, key: Buffer) => void

/** Records the cost of each hash that scrypt computes until the end of the test. */
function recordCosts(): readonly object[] {
  const costs: object[] = []
  const { scrypt } = crypto
  const spy = vi.spyOn(crypto, 'scrypt').mockImplementation((password, salt, bytes, ...rest) => {
    const [{ N, r, p }, callback] = rest as unknown as [ScryptOptions, ScryptCallback]
    costs.push({ bytes, N, r, p })
    scrypt(password, salt, bytes, { N, r, p, maxmem: 2 ** 28 } as ScryptOptions, callback)
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    spy.mockRestore()
    syncBuiltinESMExports()
  })
  return costs
}

describe('ScryptPasswordHasher', () => {
  it('A hash uses scrypt with 128 MiB and a new salt, and its text contains the cost', async () => {
    const hasher = new ScryptPasswordHasher()
    const text = await hasher.hash(PASSWORD)
    const [, name, cost, salt = '', hash = ''] = text.split('$')
    expect([name, cost]).toEqual(['scrypt', 'ln=17,r=8,p=1'])
    const options = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 }
    const expected = scryptSync(PASSWORD, Buffer.from(salt, 'base64'), 32, options)
    expect(Buffer.from(hash, 'base64').equals(expected)).toBe(true)
    expect(await hasher.verify(PASSWORD, text)).toBe('right')
    expect(await hasher.verify(`${PASSWORD} `, text)).toBe('wrong')
    const other = await new ScryptPasswordHasher(CHEAP).hash(PASSWORD)
    expect(other).not.toBe(await new ScryptPasswordHasher(CHEAP).hash(PASSWORD))
  })

  it('A hash of another cost can be verified and is reported as outdated', async () => {
    const text = await new ScryptPasswordHasher({ log2N: 5, r: 4, p: 2 }).hash(PASSWORD)
    const hasher = new ScryptPasswordHasher(CHEAP)
    expect(await hasher.verify(PASSWORD, text)).toBe('outdated')
    expect(await hasher.verify('wrong', text)).toBe('wrong')
  })

  it('Verification computes a hash of the same cost without a hash as with one', async () => {
    const hasher = new ScryptPasswordHasher({ log2N: 14, r: 8, p: 1 })
    const text = await hasher.hash(PASSWORD)
    const costs = recordCosts()
    expect(await hasher.verify('wrong', null)).toBe('wrong')
    expect(await hasher.verify('wrong', text)).toBe('wrong')
    const cost = { bytes: 32, N: 2 ** 14, r: 8, p: 1 }
    expect(costs).toEqual([cost, cost])
  })

  it.each(['', 'x', '$scrypt$ln=4,r=8,p=1$$', '$2b$10$abc', '$scrypt$ln=4,r=8,p=1$c2FsdA$eA'])(
    'No password matches the malformed hash %j',
    async (text) => {
      expect(await new ScryptPasswordHasher(CHEAP).verify('', text)).toBe('wrong')
    },
  )

  it('One password is hashed at a time, 16 wait, and further ones are refused immediately', async () => {
    const hasher = new ScryptPasswordHasher({ log2N: 14, r: 8, p: 1 })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, () => hasher.verify(PASSWORD, null)),
    )
    const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(refused).toHaveLength(100 - 17)
    for (const error of refused) {
      expect(isFlagError(error) && error.code).toBe('RATE_LIMITED')
      expect(error.details).toEqual({ seconds: 2 })
    }
    expect(await hasher.verify(PASSWORD, null)).toBe('wrong')
  })
})
