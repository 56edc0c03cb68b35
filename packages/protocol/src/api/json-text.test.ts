import { describe, expect, it } from 'vitest'
import { formatJson, lossOfJson } from './json-text.ts'

describe('formatJson', () => {
  it('Formatting changes only white space: numbers, names and their order stay', () => {
    const text = '{"b":9007199254740993,"a":1.10,"a":[1e400,{},[],"x, {y}: \\"z\\" "],"1":-0}'
    expect(formatJson(text)).toBe(
      [
        '{',
        '  "b": 9007199254740993,',
        '  "a": 1.10,',
        '  "a": [',
        '    1e400,',
        '    {},',
        '    [],',
        '    "x, {y}: \\"z\\" "',
        '  ],',
        '  "1": -0',
        '}',
      ].join('\n'),
    )
  })

  it.each(['', '{"a":', '[1,]', 'text'])('Text that is not valid JSON stays: %j', (text) => {
    expect(formatJson(text)).toBe(text)
  })
})

describe('lossOfJson', () => {
  it.each([
    ['{"id":9007199254740993}', 'has the number 9007199254740993, which cannot be represented'],
    ['[-9007199254740993]', 'has the number -9007199254740993'],
    ['1e400', 'has the number 1e400'],
    ['[1e-400]', 'has the number 1e-400'],
    ['0.12345678901234567890123', 'has the number 0.12345678901234567890123'],
    ['{"a":1,"a":2}', 'has the name "a" twice in one object'],
    ['[{"b":{"a":1,"\\u0061":2}}]', 'has the name "\\u0061" twice in one object'],
  ])('Parsing %s would lose a part', (text, loss) => {
    expect(lossOfJson(text)).toContain(loss)
  })

  it.each([
    '{"id":"9007199254740993"}',
    '[9007199254740991, -9007199254740991, 0, -0, 0.0, 1.10, 100, 1e2, 1E+2, 0.1, 1.5e-7, 5e-324]',
    '{"a":{"a":1},"b":[{"a":1},{"a":2}]}',
    '{"text":"{\\"a\\":1,\\"a\\":2} 9007199254740993"}',
    'not JSON 9007199254740993',
  ])('Parsing %s loses nothing', (text) => {
    expect(lossOfJson(text)).toBeUndefined()
  })
})
