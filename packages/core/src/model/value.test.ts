import { describe, expect, it } from 'vitest'
import { type FlagValueType, MAX_VALUE_NESTING, parseFlagValue } from './value.ts'

describe('parseFlagValue', () => {
  it.each<[FlagValueType, string, unknown]>([
    ['boolean', 'true', true],
    ['boolean', 'false', false],
    ['string', '', ''],
    ['string', ' "true" ', ' "true" '],
    ['number', '-1.50e2', -150],
    ['number', ' 7 ', 7],
    ['number', '-0', 0],
    ['json', '{"a": [1, null, {"b": true}]}', { a: [1, null, { b: true }] }],
    ['json', '"text"', 'text'],
    ['json', 'null', null],
    ['json', '[-0]', [0]],
  ])('parseFlagValue parses the %s %j', (type, text, value) => {
    expect(parseFlagValue(type, text)).toStrictEqual(value)
  })

  it.each<[FlagValueType, string]>([
    ['boolean', 'TRUE'],
    ['boolean', ' true'],
    ['boolean', '1'],
    ['boolean', ''],
    ['number', ''],
    ['number', '"1"'],
    ['number', '01'],
    ['number', '1,5'],
    ['number', 'NaN'],
    ['number', '1e999'],
    ['json', ''],
    ['json', '{'],
    ['json', "{'a': 1}"],
    ['json', '[1e999]'],
    ['json', 'undefined'],
  ])('parseFlagValue refuses the %s %j', (type, text) => {
    expect(() => parseFlagValue(type, text)).toThrowError(
      expect.objectContaining({ code: 'INVALID_DEFINITION' }),
    )
  })

  it('parseFlagValue refuses an unknown type and a value that is not text', () => {
    for (const [type, text] of [
      ['date', '1'],
      ['string', 5],
      ['json', null],
    ] as const) {
      const attempt = () => parseFlagValue(type as FlagValueType, text as string)
      expect(attempt).toThrowError(expect.objectContaining({ code: 'INVALID_DEFINITION' }))
    }
  })

  it.each<[FlagValueType, string, string]>([
    ['boolean', 'yes', 'must be `true` or `false`'],
    ['number', '"1"', 'must be a JSON number'],
    ['number', '1e999', 'too large'],
    ['json', '{', 'must be JSON'],
    ['number', '1,5', 'must be a JSON number'],
    ['date' as FlagValueType, '1', 'The type of a flag must be'],
    ['string', 5 as unknown as string, 'must be a string'],
  ])('The message for the %s %j describes the expected value', (type, text, message) => {
    expect(() => parseFlagValue(type, text)).toThrow(message)
  })

  it('The cause of an invalid json value is the error of the JSON parser', () => {
    try {
      parseFlagValue('json', '{')
      expect.unreachable()
    } catch (error) {
      expect((error as Error).cause).toBeInstanceOf(SyntaxError)
    }
  })

  it('parseFlagValue limits nesting, even for extremely deep text', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    expect(() => parseFlagValue('json', nested(MAX_VALUE_NESTING))).not.toThrow()
    expect(() => parseFlagValue('json', objects(MAX_VALUE_NESTING))).not.toThrow()
    expect(() => parseFlagValue('json', objects(MAX_VALUE_NESTING + 1))).toThrow('64 levels')
    for (const depth of [MAX_VALUE_NESTING + 1, 100_000]) {
      expect(() => parseFlagValue('json', nested(depth))).toThrowError(
        expect.objectContaining({ code: 'INVALID_DEFINITION' }),
      )
    }
  })

  it('parseFlagValue freezes the whole value, and keeps __proto__ as a name', () => {
    const value = parseFlagValue('json', '{"__proto__": {"a": [1]}}') as Record<string, object>
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.isFrozen(value)).toBe(true)
    expect(JSON.stringify(value)).toBe('{"__proto__":{"a":[1]}}')
  })
})
