import { describe, expect, it } from 'vitest'
import { keyBuckets } from '../../test/key-buckets.ts'
import { bucketOf } from '../rollouts/bucket.ts'
import { BucketingKey } from './bucketing-key.ts'

const ASCII = 'xyz-0\u007f'.repeat(50)
const LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 253, 254, 255, 256]
const KEYS = [
  ...LENGTHS.map((length) => ASCII.slice(0, length)),
  ...['user-1', '12345678', '\u007f', 'ab\u007f\u007f', '\0', '\0\0\0\0\0'],
]
const UNMIXED = [
  // Characters beyond ASCII in a block, in the tail and at the end of a long text.
  ...['ключ', 'abcé', 'abcd\u0080', '\u0080', '\0\u0080', 'abcdé', 'abcdeĀ', '😀'],
  ...[257, 258, 259, 260, 1000].map((length) => 'x'.repeat(length)),
  ...[`${'x'.repeat(255)}é`, `${'x'.repeat(256)}é`],
]

/** Returns `count` salts of a length. */
function saltsOf(length: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${at}-salt~\u007f`.repeat(3).slice(0, length))
}

describe('BucketingKey', () => {
  it('BucketingKey computes the same buckets as bucketOf for salts and keys of any length', () => {
    const key = new BucketingKey()
    for (const text of [...KEYS, ...KEYS.toReversed()]) {
      key.read(text)
      expect([text, key.isMixed]).toEqual([text, true])
      // The rests of the prefixes have 0, 1, 2 and 3 characters, in several orders.
      for (const length of [3, 0, 2, 1, 4, 5, 6, 7, 11, 13]) {
        const salts = saltsOf(length, 5)
        const expected = salts.map((salt) => bucketOf(salt, text))
        expect([text, length, keyBuckets(key, salts)]).toEqual([text, length, expected])
      }
    }
  })

  it('BucketingKey computes the buckets of a key for 0 to 9 salts at once', () => {
    const key = new BucketingKey()
    for (const text of KEYS) {
      key.read(text)
      for (let count = 0; count <= 9; count += 1) {
        const salts = saltsOf(11, count)
        expect(keyBuckets(key, salts)).toEqual(salts.map((salt) => bucketOf(salt, text)))
      }
    }
  })

  it('mixBlocks changes no state before the first and at most three after the last', () => {
    const key = new BucketingKey()
    key.read('a key of several blocks')
    key.align(0)
    const states = Int32Array.from({ length: 12 }, (_, at) => at)
    key.mixBlocks(states, 3, 5)
    expect([...states.subarray(0, 3)]).toEqual([0, 1, 2])
    expect([...states.subarray(8)]).toEqual([8, 9, 10, 11])
    expect(states[3]).not.toBe(3)
    expect(states[4]).not.toBe(4)
  })

  it('isMixed is false for keys of more than 256 characters and for keys that are not ASCII', () => {
    const key = new BucketingKey()
    for (const text of UNMIXED) {
      key.read(text)
      expect([text, key.isMixed]).toEqual([text, false])
      key.read('user-1')
      expect(key.isMixed).toBe(true)
      expect(keyBuckets(key, ['salt'])).toEqual([bucketOf('salt', 'user-1')])
    }
  })
})
