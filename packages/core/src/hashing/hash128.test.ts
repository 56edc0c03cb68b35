import { describe, expect, it } from 'vitest'
import { hash128, hash128Incrementally } from './hash128.ts'

describe('hash128', () => {
  it('hash128 has the verification value that the authors of MurmurHash3 publish for x86_128', () => {
    // Hashes the keys {}, {0}, {0,1}, … with falling seeds, then all those hashes together.
    const hashes: number[] = []
    for (let length = 0; length < 256; length += 1) {
      const key = Uint8Array.from({ length }, (_, index) => index)
      hashes.push(...bytesInMemory(hash128(key, 256 - length)))
    }
    const all = bytesInMemory(hash128(Uint8Array.from(hashes)))
    const value = all.slice(0, 4).reduceRight((sum, byte) => sum * 256 + byte, 0)
    expect(value.toString(16)).toBe('b3ece62a')
  })

  it('hash128 hashes short and long texts in any order', () => {
    const texts = ['x'.repeat(4096), 'x'.repeat(4097), 'ü'.repeat(5000), 'x', '']
    for (const text of [...texts, ...texts.toReversed()]) {
      expect(hash128(text)).toBe(hash128(new TextEncoder().encode(text)))
    }
  })

  it('hash128Incrementally returns the same hash, even if other texts are hashed during the interruptions', () => {
    const longest = `${'long text '.repeat(60_007)}.`
    for (const text of [longest, `${longest}ü`, 'x'.repeat(8192), 'short', '']) {
      const work = hash128Incrementally(text)
      let chunks = 1
      let step = work.next()
      for (; step.done !== true; step = work.next()) {
        hash128(`other text ${chunks}`)
        chunks += 1
      }
      expect(step.value).toBe(hash128(new TextEncoder().encode(text)))
      if (text.length >= longest.length) expect(chunks).toBeGreaterThan(3)
    }
  })

  it.each([
    [0, 0],
    [4_096, 0],
    [4_097, 1],
    [131_072 + 4_096, 1],
    [131_072 + 4_097, 2],
    [2 * 131_072 + 4_097, 3],
  ])('hash128Incrementally of %d characters is interrupted %d times', (length, count) => {
    expect([...hash128Incrementally('x'.repeat(length))]).toHaveLength(count)
  })

  it('hash128Incrementally is not interrupted after a character that is not ASCII', () => {
    const text = 'x'.repeat(3 * 131_072)
    expect([...hash128Incrementally(`ü${text}`)]).toHaveLength(0)
    expect([...hash128Incrementally(`${text.slice(0, 131_072)}ü${text}`)]).toHaveLength(1)
  })

  it.each(['\u007f', '\u0080'])(
    'hash128 of a long text that ends with %j equals that of its bytes',
    (end) => {
      for (const length of [4_095, 4_096, 8_191, 8_192]) {
        const text = `${'x'.repeat(length)}${end}`
        expect(hash128(text)).toBe(hash128(new TextEncoder().encode(text)))
        expect(hash128(text, 7)).toBe(hash128(new TextEncoder().encode(text), 7))
      }
    },
  )

  it('hash128 encodes a lone surrogate as a replacement character', () => {
    expect(hash128('a\ud800b')).toBe(hash128('a\ufffdb'))
  })

  it('The hashes of hash128 never change', () => {
    expect(hash128('')).toBe('00000000000000000000000000000000')
    expect(hash128('{"key":"user-1","kind":"user"}')).toMatchInlineSnapshot(
      `"5a4c48547661085dd62c2ac3f09cf6be"`,
    )
  })
})

/** Returns the bytes of a hash in the order of the reference: little-endian words. */
function bytesInMemory(hash: string): number[] {
  const words = hash.match(/.{8}/g) ?? []
  return words.flatMap((word) => {
    const bytes = word.match(/../g) ?? []
    return bytes.map((byte) => Number.parseInt(byte, 16)).reverse()
  })
}
