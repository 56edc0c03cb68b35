import { describe, expect, it } from 'vitest'
import { fnv1a32 } from './growthbook.ts'
import { md5 } from './md5.ts'
import { sha1 } from './sha1.ts'

describe('md5', () => {
  it.each([
    ['', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['abc', '900150983cd24fb0d6963f7d28e17f72'],
    ['message digest', 'f96b697d7cb7938d525a2f31aaf161d0'],
    [
      '12345678901234567890123456789012345678901234567890123456789012345678901234567890',
      '57edf4a22be3c955ac49da2e2107b67a',
    ],
  ])('md5 hashes %j as specified in RFC 1321', (text, hash) => {
    expect(md5(text)).toBe(hash)
  })
})

describe('sha1', () => {
  it.each([
    ['', 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    ['abc', 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '84983e441c3bd26ebaae4aa1f95129e5e54670f1',
    ],
  ])('sha1 hashes %j as specified in FIPS 180', (text, hash) => {
    expect(sha1(text)).toBe(hash)
  })
})

describe('fnv1a32', () => {
  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['b', 0xe70c2de5],
    ['foobar', 0xbf9cf968],
  ])('fnv1a32 returns the published hash of %j', (text, hash) => {
    expect(fnv1a32(text)).toBe(hash)
  })

  it('fnv1a32 hashes UTF-16 units', () => {
    expect(fnv1a32('\u0161')).toBe(Math.imul(0x811c9dc5 ^ 0x161, 0x01000193) >>> 0)
  })
})
