import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bucketOf, compileSalt } from '../rollouts/bucket.ts'
import { BucketingKey } from './bucketing-key.ts'

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
)
const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 300 })
const almostAscii = fc.tuple(ascii, fc.constantFrom('é', 'Ā', '😀'), ascii)
const anyKey = fc.oneof(
  anyText,
  ascii,
  almostAscii.map((parts) => parts.join('')),
)

describe('BucketingKey', () => {
  const key = new BucketingKey()
  const generatedSalt = fc.string({ unit: 'grapheme-ascii', minLength: 11, maxLength: 11 })

  it('BucketingKey computes the same buckets as bucketOf for any key and several salts at once', () => {
    fc.assert(
      fc.property(
        fc.array(generatedSalt, { minLength: 1, maxLength: 9 }),
        anyKey,
        (salts, text) => {
          key.read(text)
          const expected = salts.map((salt) => bucketOf(salt, text))
          if (!key.isMixed) return
          const states = new Int32Array(salts.length + 3)
          states.set(salts.map((salt) => compileSalt(salt).state ?? 0))
          key.bucketAll(states, salts.length)
          expect([...states.subarray(0, salts.length)]).toEqual(expected)
        },
      ),
      { numRuns: 1_000 },
    )
  })
})
