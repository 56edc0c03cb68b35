import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareCodePoints } from './code-point.ts'

describe('compareCodePoints', () => {
  it('orders text as its code points are ordered', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 4 })
    fc.assert(
      fc.property(texts, texts, (left, right) => {
        const [a, b] = [left, right].map((text) =>
          Array.from(text, (each) => each.codePointAt(0) ?? 0),
        )
        expect(Math.sign(compareCodePoints(left, right))).toBe(compareLists(a ?? [], b ?? []))
      }),
      { numRuns: 400 },
    )
  })

  it('puts every half of a character after the last letter of the basic plane', () => {
    const texts = ['\udfff', '\ud800', '\uffff', '\ue000', '\ud7ff', '\udbff', '\udc00']
    expect(texts.sort(compareCodePoints)).toEqual(
      // Compared by units, these would come before U+E000.
      ['\ud7ff', '\ue000', '\uffff', '\ud800', '\udbff', '\udc00', '\udfff'],
    )
  })

  it('puts an emoji after the letters of the basic plane', () => {
    expect(['😀', '～', 'a', ''].sort(compareCodePoints)).toEqual(['', 'a', '～', '😀'])
  })
})

function compareLists(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return Math.sign(difference)
  }
  return Math.sign(left.length - right.length)
}
