import { describe, expect, it } from 'vitest'
import { bucketOf, compileSalt } from '../rollouts/bucket.ts'
import { BucketingKey } from './bucketing-key.ts'

const KEYS = [
  ...['', 'a', 'ab', 'abc', 'abcd', 'user-1', '12345678', '\u007f', 'ab\u007f\u007f'],
  // Characters beyond ASCII in a block, in the tail and at the end of a long text.
  ...['ключ', 'abcé', 'abcd\u0080', '\u0080', '\0\u0080', 'abcdé', `${'x'.repeat(256)}é`],
  ...[255, 256, 257, 260, 1000].map((length) => 'xyz-0'.repeat(200).slice(0, length)),
]

describe('BucketingKey', () => {
  it('BucketingKey computes the buckets of a key for any number of salts at once', () => {
    const salts = Array.from({ length: 9 }, (_, index) => `salt-${index}-abcd`)
    const key = new BucketingKey()
    for (const text of [...KEYS, ...KEYS.toReversed()].filter((each) =>
      /^[\0-\u007f]{0,256}$/.test(each),
    )) {
      key.read(text)
      expect([text, key.isMixed]).toEqual([text, true])
      for (let count = 0; count <= salts.length; count += 1) {
        const states = Int32Array.from({ length: 12 }, (_, index) => {
          return compileSalt(salts[index] ?? '').state ?? 0
        })
        key.bucketAll(states, count)
        const expected = salts.slice(0, count).map((salt) => bucketOf(salt, text))
        expect([...states.slice(0, count)]).toEqual(expected)
      }
    }
  })

  it('isMixed is false for keys of more than 256 characters and for keys that are not ASCII', () => {
    const key = new BucketingKey()
    expect(key.isMixed).toBe(false)
    for (const text of [
      'ключ',
      'abcé',
      'abcd\u0080',
      '\u0080',
      '\0\u0080',
      'x'.repeat(257),
      `${'x'.repeat(255)}é`,
    ]) {
      key.read(text)
      expect([text, key.isMixed]).toEqual([text, false])
    }
  })
})
