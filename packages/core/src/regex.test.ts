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
  ])('The search for %j in %j returns %j', (pattern, text, expected) => {
    expect(isFound(pattern, text)).toBe(expected)
  })

  it('re2 ignores case by simple folding, also for letters beyond ASCII', () => {
    expect(isFound('straße', 'STRAßE', true)).toBe(true)
    expect(isFound('É', 'é', true)).toBe(true)
    expect(isFound('k', '\u212a', true)).toBe(true)
    expect(isFound('ss', 'ß', true)).toBe(false)
    expect(isFound('a', 'A')).toBe(false)
  })

  it.each([
    ...['(', ')', '[', 'a**', '*', '\\', 'a{2,1}', '[b-a]', '(?=a)', '(?!a)', '(?<=a)', '(a)\\1'],
    ...['(?>a)', '\\p{Klingon}', 'a{1001}', '(?<n>a)(?<n>b)', '\\C', '\\Z', '(?z)'],
  ])('re2 refuses the invalid pattern %j', (pattern) => {
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
  ])('re2 refuses %s, which is too large', (pattern) => {
    expect(re2(pattern, { ignoreCase: false })).toBeUndefined()
  })

  it('re2 accepts a pattern of 128 instructions, and refuses a pattern of 129', () => {
    expect(isFound('a{126}', 'a'.repeat(126))).toBe(true)
    expect(re2('a{127}', { ignoreCase: false })).toBeUndefined()
  })
})

describe('re2 with a hostile pattern and with many patterns', () => {
  /** A pattern that depends on the last 38 letters, so that its automaton has 2^38 states. */
  const pattern = '(a|b)*a(a|b){38}[ce]'

  it('A hostile pattern takes at most one step per instruction and character, and little memory', () => {
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
      // The state cache must not exceed 64 KiB, and a state takes at least 150 bytes.
      expect(stateCount).toBeLessThan((64 * 1024) / 150)
    }
  })

  it('A pattern is compiled only once', () => {
    const compiling = vi.spyOn(RE2JS, 'compile')
    for (let round = 0; round < 3; round += 1) re2('compiled once', { ignoreCase: true })
    re2('compiled once', { ignoreCase: false })
    expect(compiling).toHaveBeenCalledTimes(2)
    compiling.mockRestore()
  })

  it('Patterns that differ only in their first letter and in case sensitivity are different', () => {
    expect(isFound('-case', '-CASE', true)).toBe(true)
    expect(isFound('case', 'a case')).toBe(true)
    expect(isFound('nstant', 'NSTANT', true)).toBe(true)
    expect(isFound('instant', 'nstant')).toBe(false)
  })

  it('The least recently used pattern is removed from the cache after a thousand others', () => {
    const compiling = vi.spyOn(RE2JS, 'compile')
    const use = (round: number) => re2(`one of many ${round}`, { ignoreCase: false })
    for (let round = 0; round < 1000; round += 1) use(round)
    use(0)
    use(1000)
    expect(compiling).toHaveBeenCalledTimes(1001)
    use(0)
    expect(compiling).toHaveBeenCalledTimes(1001)
    use(1)
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
