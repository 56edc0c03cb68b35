import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { compareCodePoints, sortByCodePoints } from './code-point.ts'

describe('compareCodePoints', () => {
  it('compareCodePoints compares texts by their code points', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 4 })
    fc.assert(
      fc.property(texts, texts, (left, right) => {
        expect(Math.sign(compareCodePoints(left, right))).toBe(comparePlainly(left, right))
      }),
      { numRuns: runs(400) },
    )
  })

  it('compareCodePoints compares texts with unpaired surrogates by their code points', () => {
    const units = ['\ud7ff', '\ud800', '\udbff', '\udc00', '\udfff', '\ue000', '\uffff', 'a']
    const texts = fc.array(fc.constantFrom(...units), { maxLength: 4 }).map((all) => all.join(''))
    fc.assert(
      fc.property(texts, texts, (left, right) => {
        expect(Math.sign(compareCodePoints(left, right))).toBe(comparePlainly(left, right))
      }),
      { numRuns: runs(20_000) },
    )
  })
})

function comparePlainly(left: string, right: string): number {
  const [a = [], b = []] = [left, right].map((text) => {
    return Array.from(text, (each) => each.codePointAt(0) ?? 0)
  })
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0)
    if (difference !== 0) return Math.sign(difference)
  }
  return Math.sign(a.length - b.length)
}

describe('sortByCodePoints', () => {
  it('sortByCodePoints sorts texts like compareCodePoints', () => {
    const units = ['\ud7ff', '\ud800', '\udc00', '\ue000', '\uffff', 'a', 'b', '1']
    const texts = fc.array(fc.constantFrom(...units), { maxLength: 3 }).map((all) => all.join(''))
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 8 }), (list) => {
        const sorted = [...list].sort(compareCodePoints)
        expect(sortByCodePoints(list)).toEqual(sorted)
      }),
      { numRuns: runs(2_000) },
    )
  })
})
