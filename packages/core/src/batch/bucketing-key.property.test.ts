import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { keyBuckets } from '../../test/key-buckets.ts'
import { bucketOf } from '../rollouts/bucket.ts'
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

/** Up to 9 salts of the same length. */
const anySalts = fc.nat({ max: 40 }).chain((length) => {
  const salt = fc.string({ unit: 'grapheme-ascii', minLength: length, maxLength: length })
  return fc.array(salt, { minLength: 1, maxLength: 9 })
})

describe('BucketingKey', () => {
  const key = new BucketingKey()

  it('BucketingKey computes the same buckets as bucketOf for any key and several salts at once', () => {
    fc.assert(
      fc.property(anyKey, fc.array(anySalts, { maxLength: 4 }), (text, lists) => {
        key.read(text)
        expect(key.isMixed).toBe(/^[\0-\u007f]{0,256}$/.test(text))
        if (!key.isMixed) return
        for (const salts of lists) {
          expect(keyBuckets(key, salts)).toEqual(salts.map((salt) => bucketOf(salt, text)))
        }
      }),
      { numRuns: runs(1_000) },
    )
  })
})
