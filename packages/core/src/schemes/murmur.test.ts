import { describe, expect, it } from 'vitest'
import { lowByteHash, utf8Hash, wideUnitHash } from './murmur.ts'

const ASCII = ['', 'a', 'ab', 'abc', 'user-1', 'user-12', 'user-123', '\x00\x7f', 'x'.repeat(33)]

describe('lowByteHash', () => {
  it('lowByteHash equals the hash of UTF-8 for ASCII, with every seed', () => {
    for (const text of ASCII) {
      expect(lowByteHash('')(text)).toBe(utf8Hash('')(text))
      expect(lowByteHash('flag:', 86_028_157)(text)).toBe(utf8Hash('flag:', 86_028_157)(text))
    }
  })

  it.each([
    ['café', 2573629365, 503416914],
    ['ключ', 171620335, 495664837],
    ['價格', 2428567934, 2316060047],
    ['吉 星 高 照', 4163339522, undefined],
    ['My 🚀 is full of 🦎.', 2899624186, undefined],
    ['abc뮤', 972618396, 10842741],
    ['😀', 3750478581, 705014468],
    ['\ud800', 1364076727, 1385761227],
  ])('lowByteHash returns the hash of murmurhash3js for %j', (text, hash, seeded) => {
    expect(lowByteHash(text.slice(0, 1))(text.slice(1))).toBe(hash)
    if (seeded !== undefined) expect(lowByteHash('', 86_028_157)(text)).toBe(seeded)
  })
})

describe('wideUnitHash', () => {
  it('wideUnitHash equals the hash of UTF-8 for ASCII', () => {
    for (const text of ASCII) {
      expect(wideUnitHash('')(text)).toBe(utf8Hash('')(text))
      expect(wideUnitHash('flag')(text)).toBe(utf8Hash('flag')(text))
    }
  })

  it.each([
    ['café', 2573629365],
    ['ключ', 1939064099],
    ['價格', 2669577713],
    ['abc뮤', 1622952893],
    ['😀', 306838748],
    ['\ud800', 976000795],
  ])('wideUnitHash returns the hash of imurmurhash for %j', (text, hash) => {
    expect(wideUnitHash(text.slice(0, 1))(text.slice(1))).toBe(hash)
  })

  it('wideUnitHash omits an incomplete block with the highest bit set, as imurmurhash does', () => {
    expect(wideUnitHash('')('ab뮤')).toBe(2247144487)
    expect(wideUnitHash('')('xy뮤')).toBe(2247144487)
  })
})
