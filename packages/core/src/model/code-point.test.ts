import { describe, expect, it } from 'vitest'
import { compareCodePoints, sortByCodePoints } from './code-point.ts'

describe('compareCodePoints', () => {
  it('An unpaired surrogate is between U+D7FF and U+E000, and every pair is after U+FFFF', () => {
    const texts = ['\udfff', '\ud800\udc00', '\ud800', '\uffff', '\ue000', '\ud7ff', '\udc00']
    expect(texts.sort(compareCodePoints)).toEqual([
      '\ud7ff',
      '\ud800',
      '\udc00',
      '\udfff',
      '\ue000',
      '\uffff',
      '\ud800\udc00',
    ])
  })

  it('Two surrogate pairs are compared correctly if they differ only in the second half', () => {
    expect(compareCodePoints('\ud83d\ude00', '\ud83dz')).toBeGreaterThan(0)
    expect(compareCodePoints('\ud83d\ude00', '\ud83d\ud83d\ude00')).toBeGreaterThan(0)
    expect(compareCodePoints('\ud83d', '\ud83d\ude00')).toBeLessThan(0)
  })

  it('A text is before the same text with a NUL character at its end', () => {
    expect(compareCodePoints('a', 'a\0')).toBeLessThan(0)
    expect(compareCodePoints('a\0', 'a')).toBeGreaterThan(0)
  })

  it('An emoji is after the letters of the basic plane', () => {
    expect(['😀', '～', 'a', ''].sort(compareCodePoints)).toEqual(['', 'a', '～', '😀'])
  })
})

describe('sortByCodePoints', () => {
  it('sortByCodePoints sorts texts with and without an emoji by their code points', () => {
    expect(sortByCodePoints(['b', '', 'a'])).toEqual(['', 'a', 'b'])
    expect(sortByCodePoints(['😀', 'b', '～', 'a'])).toEqual(['a', 'b', '～', '😀'])
  })
})
