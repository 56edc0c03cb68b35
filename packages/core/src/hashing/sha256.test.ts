import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { runToEnd } from '../model/incremental.ts'
import { sha256, sha256Incrementally } from './sha256.ts'

function expected(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

describe('sha256', () => {
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
  ])('sha256 hashes %j as specified in FIPS 180', (text, hash) => {
    expect(sha256(text)).toBe(hash)
  })

  it('sha256 agrees with Node for texts of every length near the ends of blocks', () => {
    for (const length of [...Array(200).keys(), 1000, 4096]) {
      expect(sha256('x'.repeat(length)), `${length}`).toBe(expected('x'.repeat(length)))
    }
  })

  it.each(['naïve', 'ключ', '😀', '\ud800', 'a\udc00b', '\ud83d\ud83d\ude00'])(
    'sha256 hashes the UTF-8 bytes of %j, with U+FFFD for a lone surrogate',
    (text) => {
      expect(sha256(text)).toBe(expected(text))
    },
  )
})

describe('sha256Incrementally', () => {
  it('sha256Incrementally returns the same hash as sha256, and yields every 32 KiB', () => {
    const text = 'é'.repeat(50_000)
    expect([...sha256Incrementally(text)]).toHaveLength(3)
    expect(runToEnd(sha256Incrementally(text))).toBe(expected(text))
  })
})
