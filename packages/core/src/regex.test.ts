import { RE2JS } from 're2js'
import { describe, expect, it, vi } from 'vitest'
import { table } from '../test/operator-table.ts'
import { MAX_PARSED_LENGTH } from './operators/comparison.ts'
import { MAX_PATTERN_LENGTH } from './operators/pattern-comparison.ts'
import { re2 } from './regex.ts'

const isFound = (pattern: string, text: string, ignoreCase = false) =>
  re2(pattern, { ignoreCase })?.(text)

describe('re2', () => {
  it.each([
    ['b', 'abc', true],
    ['^b', 'abc', false],
    ['', '', true],
    ['^$', '', true],
    ['^.$', '\u{1f600}', true],
    ['^.$', '\ud83d', true],
    ['a.b', 'a\nb', false],
    ['(?s)a.b', 'a\nb', true],
    ['^b$', 'a\nb', false],
    ['(?m)^b$', 'a\nb', true],
    ['(?P<year>\\d{4})-(?<month>\\d\\d)', 'in 2024-06', true],
    ['\\p{Greek}+', 'λ', true],
    ['\\bfoo\\b', 'a foo b', true],
    ['\\d', '٣', false],
    ['[[:alpha:]]', '1a', true],
    ['\\Qa.b\\E', 'axb', false],
    ['[1]', '1', true],
  ])('finds %j in %j: %j', (pattern, text, expected) => {
    expect(isFound(pattern, text)).toBe(expected)
  })

  it('ignores case by simple folding, of letters beyond ASCII too', () => {
    expect(isFound('straße', 'STRAßE', true)).toBe(true)
    expect(isFound('É', 'é', true)).toBe(true)
    expect(isFound('k', '\u212a', true)).toBe(true)
    expect(isFound('ss', 'ß', true)).toBe(false)
    expect(isFound('a', 'A')).toBe(false)
  })

  it.each([
    ...['(', ')', '[', 'a**', '*', '\\', 'a{2,1}', '[b-a]', '(?=a)', '(?!a)', '(?<=a)', '(a)\\1'],
    ...['(?>a)', '\\p{Klingon}', 'a{1001}', '(?<n>a)(?<n>b)', '\\C', '\\Z', '(?z)'],
  ])('refuses %j', (pattern) => {
    expect(re2(pattern, { ignoreCase: false })).toBeUndefined()
  })

  it.each([
    ...[
      '((a{100}){100}){100}',
      '(a{1000}){1000}',
      'a{200}',
      '(?:a?){60}a{60}',
      '(\\p{L}{1,50}){1,5}',
    ],
    ...['('.repeat(400) + ')'.repeat(400), '(a|b)*a(a|b){60}c'],
  ])('refuses %s, which is too large', (pattern) => {
    expect(re2(pattern, { ignoreCase: false })).toBeUndefined()
  })
})

describe('a hostile pattern that is accepted', () => {
  /** What must remember the last 38 letters: 2^38 states if all of them were kept. */
  const pattern = '(a|b)*a(a|b){38}[cd]'

  it('takes no more steps than instructions times characters, and little memory', () => {
    const compiling = vi.spyOn(RE2JS, 'compile')
    const isFoundIn = re2(pattern, { ignoreCase: false })
    const [compiled] = compiling.mock.results.map(({ value }) => value as RE2JS)
    compiling.mockRestore()
    if (compiled === undefined || isFoundIn === undefined) throw new Error('it is accepted')
    expect(compiled.programSize() * MAX_PARSED_LENGTH).toBeLessThanOrEqual(2 ** 17)
    let seed = 1
    for (let round = 0; round < 20; round += 1) {
      const letters = Array.from({ length: MAX_PARSED_LENGTH }, () => {
        seed = (seed * 48_271) % 0x7fffffff
        return 'ab'[seed & 1]
      })
      expect(isFoundIn(letters.join(''))).toBe(false)
      const { stateCount } = compiled.re2().dfa as unknown as { readonly stateCount: number }
      // A state takes 150 bytes at the least, of 64 KiB.
      expect(stateCount).toBeLessThan((64 * 1024) / 150)
    }
  })

  it('is compiled once, however often it is asked for', () => {
    const compiling = vi.spyOn(RE2JS, 'compile')
    for (let round = 0; round < 3; round += 1) re2('compiled once', { ignoreCase: true })
    re2('compiled once', { ignoreCase: false })
    expect(compiling).toHaveBeenCalledTimes(2)
    compiling.mockRestore()
  })

  it('is forgotten when a thousand others were asked for after it', () => {
    const compiling = vi.spyOn(RE2JS, 'compile')
    const ask = (round: number) => re2(`one of many ${round}`, { ignoreCase: false })
    for (let round = 0; round < 1000; round += 1) ask(round)
    ask(0)
    ask(1000)
    expect(compiling).toHaveBeenCalledTimes(1001)
    ask(0)
    expect(compiling).toHaveBeenCalledTimes(1001)
    ask(1)
    expect(compiling).toHaveBeenCalledTimes(1002)
    compiling.mockRestore()
  })
})

describe('matches', () => {
  const long = 'a'.repeat(MAX_PARSED_LENGTH)
  table([
    ['user@example.com', 'matches', '@example\\.(com|org)$', true],
    ['user@example.net', 'matches', '@example\\.(com|org)$', false],
    ['user@example.net', 'not_matches', '@example\\.(com|org)$', true],
    ['ÜBER', 'matches_ci', '^ü', true],
    ['1', 'matches', '[1]', true],
    ['[1]', 'matches', '["x"]', false],
    ['a', 'matches', '(', false],
    ['a', 'not_matches', '(', false],
    ['a', 'matches', `[${'a'.repeat(MAX_PATTERN_LENGTH - 2)}]`, true],
    ['a', 'matches', `[${'a'.repeat(MAX_PATTERN_LENGTH - 1)}]`, false],
    [1, 'matches', '1', false],
    [long, 'matches', 'a$', true],
    [`${long}a`, 'matches', 'a$', false],
    [`${long}a`, 'not_matches', 'b', false],
    [[1, 'b', 'a'], 'matches', '^a', true],
    [[1], 'not_matches', '^a', false],
  ])
})
