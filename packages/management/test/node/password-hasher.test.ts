import { scryptSync } from 'node:crypto'
import { isFlagError } from '@ff/core'
import { describe, expect, it } from 'vitest'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'

const CHEAP = { log2N: 4, r: 8, p: 1 }
const PASSWORD = 'correct horse battery staple'

describe('the password hasher', { timeout: 60_000 }, () => {
  it('makes scrypt of 128 MiB, with a salt of its own each time, and says so in the text', async () => {
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

  it('knows what was hashed at another cost, and that it should be hashed anew', async () => {
    const text = await new ScryptPasswordHasher({ log2N: 5, r: 4, p: 2 }).hash(PASSWORD)
    const hasher = new ScryptPasswordHasher(CHEAP)
    expect(await hasher.verify(PASSWORD, text)).toBe('outdated')
    expect(await hasher.verify('wrong', text)).toBe('wrong')
  })

  it('takes as long for nobody as for somebody', async () => {
    const hasher = new ScryptPasswordHasher({ log2N: 14, r: 8, p: 1 })
    const text = await hasher.hash(PASSWORD)
    // The shortest of several, in turn: on a busy machine the others tell of the machine.
    const shortest = { nobody: Number.POSITIVE_INFINITY, somebody: Number.POSITIVE_INFINITY }
    for (let n = 0; n < 10; n += 1) {
      for (const who of ['nobody', 'somebody'] as const) {
        const start = performance.now()
        expect(await hasher.verify('wrong', who === 'nobody' ? null : text)).toBe('wrong')
        shortest[who] = Math.min(shortest[who], performance.now() - start)
      }
    }
    const ratio = shortest.nobody / shortest.somebody
    expect(ratio).toBeGreaterThan(0.5)
    expect(ratio).toBeLessThan(2)
  })

  it.each(['', 'x', '$scrypt$ln=4,r=8,p=1$$', '$2b$10$abc', '$scrypt$ln=4,r=8,p=1$c2FsdA$eA'])(
    'lets nobody in with the text %j',
    async (text) => {
      expect(await new ScryptPasswordHasher(CHEAP).verify('', text)).toBe('wrong')
    },
  )

  it('works on one password at a time, lets some wait, and refuses the others at once', async () => {
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
