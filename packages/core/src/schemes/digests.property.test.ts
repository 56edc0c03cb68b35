import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { md5 } from './md5.ts'
import { sha1 } from './sha1.ts'

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
/** Lengths near the ends of blocks, where the padding needs another block. */
const lengths = [...Array(200).keys(), 1000, 4096]

describe('md5', () => {
  it('md5 agrees with Node for texts of every length', () => {
    const expected = (text: string) => createHash('md5').update(text).digest('hex')
    for (const length of lengths) expect(md5('x'.repeat(length))).toBe(expected('x'.repeat(length)))
    fc.assert(
      fc.property(anyText, (text) => md5(text) === expected(text)),
      { numRuns: runs(100) },
    )
  })
})

describe('sha1', () => {
  it('sha1 agrees with Node for texts of every length', () => {
    const expected = (text: string) => createHash('sha1').update(text).digest('hex')
    for (const length of lengths) {
      expect(sha1('x'.repeat(length))).toBe(expected('x'.repeat(length)))
    }
    fc.assert(
      fc.property(anyText, (text) => sha1(text) === expected(text)),
      { numRuns: runs(100) },
    )
  })
})
