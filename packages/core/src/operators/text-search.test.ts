import { describe, expect, it } from 'vitest'
import { searchAnywhere, searchEnd, searchStart } from './text-search.ts'

const SEARCHES = [
  ['searchStart', searchStart, (text: string, each: string) => text.startsWith(each)],
  ['searchEnd', searchEnd, (text: string, each: string) => text.endsWith(each)],
  ['searchAnywhere', searchAnywhere, (text: string, each: string) => text.includes(each)],
] as const

/** Returns all texts of at most `length` of these letters. */
function textsOf(letters: readonly string[], length: number): readonly string[] {
  if (length === 0) return ['']
  const shorter = textsOf(letters, length - 1)
  return ['', ...letters.flatMap((letter) => shorter.map((text) => letter + text))]
}

/** Returns `count` texts of 2 to 7 of the letters, which are always the same. */
function mixedTexts(letters: string, count: number, seed: number): readonly string[] {
  let state = seed
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
  return Array.from({ length: count }, () => {
    return Array.from({ length: 2 + next(6) }, () => letters[next(letters.length)]).join('')
  })
}

describe.each(SEARCHES)('%s', (name, search, isFound) => {
  /** Returns the texts for which the search has another result than a search one by one. */
  const wrong = (list: readonly string[], texts: readonly string[]) => {
    const isFoundIn = search(list)
    return texts.filter((text) => isFoundIn(text) !== list.some((each) => isFound(text, each)))
  }

  it.each([
    [[]],
    [['ab']],
    [['b', 'ab', 'cab', 'aa']],
    [['aab', 'aba', 'bab', 'bba', 'abbb']],
    [['ab', 'ab', 'ab', 'ab', 'ab']],
    [['c', 'a', 'ab', 'abc', 'abb', 'cc']],
    [['a', 'b', 'c', 'aa', '']],
    [['aaab', 'aab', 'baab', 'bbaa', 'abaa', 'babab']],
    // A text of the list is in the middle of another one.
    [['abcab', 'bca', 'cc', 'acac', 'bbb']],
    [['abcabca', 'bcabb', 'cabcc', 'aaaaa', 'bbbbb', 'ccccc']],
  ])(`${name} finds exactly the texts of the list %j`, (list) => {
    expect(wrong(list, textsOf(['a', 'b', 'c'], 6))).toEqual([])
  })

  it(`${name} compares UTF-16 units of any size`, () => {
    const list = ['\u{1f600}a', 'a\u{1f601}', '\ude00', '\u00e9a', '\uffff', '\u0161\u0061']
    const letters = ['\u{1f600}', '\u{1f601}', 'a', '\u00e9', '\u0161', '\uffff', '\u0100']
    expect(wrong(list, textsOf(letters, 4))).toEqual([])
  })

  it(`${name} finds long texts, also in short lists`, () => {
    const list = [`${'ab'.repeat(20)}c`, `${'ba'.repeat(20)}a`]
    const texts = [20, 21].flatMap((count) => [
      `${'ab'.repeat(count)}c`,
      `${'ba'.repeat(count)}a`,
      `${'ab'.repeat(count)}b`,
    ])
    expect(wrong(list, [...texts, ...texts.map((text) => `b${text}a`), 'ab', ''])).toEqual([])
  })

  it(`${name} finds texts in a list of hundreds of texts with hundreds of letters`, () => {
    const few = 'abcd'
    const letters = Array.from({ length: 400 }, (_, at) => String.fromCharCode(0x100 + 3 * at))
    const many = letters.join('')
    const list = [
      ...mixedTexts(many, 1500, 1),
      ...mixedTexts(few, 150, 2).map((text) => `${text}x`),
    ]
    const pieces = [...list.slice(0, 100), ...mixedTexts(many, 50, 3), ...mixedTexts(few, 150, 4)]
    const texts = pieces.flatMap((piece, at) => {
      const other = pieces[(at * 7) % pieces.length] ?? ''
      return [
        piece,
        piece.slice(1) + other,
        other + piece.slice(0, -1),
        `${piece}x`,
        `${piece}${other}x`,
      ]
    })
    const results = new Set(texts.map(search(list)))
    expect(results.size).toBe(2)
    expect(wrong(list, texts)).toEqual([])
  })
})
