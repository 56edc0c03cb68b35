import { expect, it } from 'vitest'
import { sha256 } from './secrets.ts'

it('sha256 returns the same digest as the Web Crypto API for every text', async () => {
  for (const text of [
    '',
    'ffat_0123',
    'žluťoučký 🐎',
    'half of a pair: \ud83d',
    'x'.repeat(5000),
  ]) {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
    expect(await sha256(text)).toBe(Buffer.from(digest).toString('hex'))
  }
})
