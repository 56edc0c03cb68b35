import { readFileSync } from 'node:fs'
import murmurhash from 'murmurhash'
import { describe, expect, it } from 'vitest'
import { bucketOf, compilePrefix, hashAfter } from './bucket.ts'

const KEYS = [
  ...['', 'a', 'ab', 'abc', 'abcd', 'user-1', '12345678', '\u007f', 'ab\u007f\u007f'],
  // Characters beyond ASCII in a block, in the tail and at the end of a long text.
  ...['ключ', 'abcé', 'abcd\u0080', '\u0080', '\0\u0080', 'abcdé', `${'x'.repeat(256)}é`],
  ...[255, 256, 257, 260, 1000].map((length) => 'xyz-0'.repeat(200).slice(0, length)),
]

describe('bucketOf', () => {
  it.each([
    ['checkout', 'user-1', 751713298, 17502],
    ['checkout', 'user-2', 3793026921, 88313],
    ['', 'user-1', 227446789, 5295],
    ['beta', '12345', 1803533761, 41991],
    ['naïve', 'ключ', 2113448664, 49207],
    ['f', '😀', 2843676246, 66209],
  ])('bucketOf returns the golden bucket of salt %j and key %j', (salt, key, hash, bucket) => {
    expect(hashOf(`${salt}.${key}`, 0)).toBe(hash)
    expect(bucketOf(salt, key)).toBe(bucket)
  })

  it('bucketOf uses the UTF-8 bytes of salt, dot and key, also beyond ASCII', () => {
    const salts = ['aB3dE5gH7jK', 'kJ7hG5eD3bA', 'salt', 'abc', '', 'naïve salt!', 'é']
    for (const salt of salts) {
      for (const key of KEYS) {
        const hash = murmurhash.v3(new TextEncoder().encode(`${salt}.${key}`), 0)
        const bucket = Math.floor((hash * 100_000) / 2 ** 32)
        expect([salt, key, bucketOf(salt, key)]).toEqual([salt, key, bucket])
      }
    }
  })
})

describe('hashAfter', () => {
  it.each([
    ['ejOoVL', 0],
    ['bY9fO-', 1],
    ['SI7p-', 2147483647],
    ['6LvT0', 2147483648],
    ['ceQdGm', 4294967295],
    ['', 0],
  ])('The murmur3 hash of %j is %d', (text, hash) => {
    expect(hashOf(text, 0)).toBe(hash)
  })

  it.each([
    'murmur3-sample-v3.csv',
    'murmur3-sample-v4.csv',
    'murmur3-sample-double-treatment-users.csv',
  ])('hashAfter agrees with every row of the published table %s', (file) => {
    const rows = readTable(file)
    expect(rows.length).toBeGreaterThanOrEqual(500)
    for (const [seed, key, hash] of rows) expect([key, hashOf(key, seed)]).toEqual([key, hash])
  })
})

function hashOf(text: string, seed: number): number {
  return hashAfter(compilePrefix('', seed), text)
}

function readTable(file: string): (readonly [number, string, number])[] {
  const url = new URL(`../../test/fixtures/murmur3/${file}`, import.meta.url)
  const lines = readFileSync(url, 'utf8').split(/\r?\n/)
  return lines.filter(Boolean).map((line) => {
    const [seed, key, hash] = line.split(',')
    return [Number(seed), key ?? '', Number(hash)] as const
  })
}
