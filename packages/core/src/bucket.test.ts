import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { bucketOf, murmur3 } from './bucket.ts'

describe('bucketOf', () => {
  it.each([
    ['checkout', 'user-1', 751713298, 17502],
    ['checkout', 'user-2', 3793026921, 88313],
    ['', 'user-1', 227446789, 5295],
    ['beta', '12345', 1803533761, 41991],
    ['naïve', 'ключ', 2113448664, 49207],
    ['f', '😀', 2843676246, 66209],
  ])('gives the golden bucket of %s.%s', (salt, key, hash, bucket) => {
    expect(murmur3(`${salt}.${key}`, 0)).toBe(hash)
    expect(bucketOf(salt, key)).toBe(bucket)
  })
})

describe('murmur3', () => {
  it.each([
    ['ejOoVL', 0],
    ['bY9fO-', 1],
    ['SI7p-', 2147483647],
    ['6LvT0', 2147483648],
    ['ceQdGm', 4294967295],
    ['', 0],
  ])('hashes %j to %d', (text, hash) => {
    expect(murmur3(text, 0)).toBe(hash)
  })

  it.each([
    'murmur3-sample-v3.csv',
    'murmur3-sample-v4.csv',
    'murmur3-sample-double-treatment-users.csv',
  ])('agrees with every row of the published table %s', (file) => {
    const rows = readTable(file)
    expect(rows.length).toBeGreaterThanOrEqual(500)
    for (const [seed, key, hash] of rows) expect([key, murmur3(key, seed)]).toEqual([key, hash])
  })
})

function readTable(file: string): (readonly [number, string, number])[] {
  const url = new URL(`../test/fixtures/murmur3/${file}`, import.meta.url)
  const lines = readFileSync(url, 'utf8').split(/\r?\n/)
  return lines.filter(Boolean).map((line) => {
    const [seed, key, hash] = line.split(',')
    return [Number(seed), key ?? '', Number(hash)] as const
  })
}
