import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { conditionInput } from './flags/condition.ts'
import { percentage } from './flags/rollout.ts'
import {
  clearable,
  description,
  id,
  idOrKey,
  instant,
  isId,
  key,
  name,
  newKey,
  timestamp,
} from './scalars.ts'

const accepts = (schema: z.ZodType, value: unknown) => z.safeDecode(schema, value).success

describe('scalars', () => {
  it.each([
    [id, '0F0F0F0F-0000-4000-8000-00000000000a', true],
    [id, '11111111-1111-1111-1111-111111111111', true],
    [id, '0f0f0f0f00004000800000000000000a', false],
    [id, '{0f0f0f0f-0000-4000-8000-00000000000a}', false],
    [key, 'a', true],
    [key, '9.checkout_v2-b', true],
    [key, 'k'.repeat(128), true],
    [key, 'k'.repeat(129), false],
    [key, '.a', false],
    [key, 'naïve', false],
    [key, 'a\n', false],
    [key, '', false],
    [key, '0f0f0f0f-0000-4000-8000-00000000000a', true],
    [newKey, 'a', true],
    [newKey, '.a', false],
    [newKey, '0f0f0f0f-0000-4000-8000-00000000000a', false],
    [newKey, '0F0F0F0F-0000-4000-8000-00000000000A', false],
    [newKey, '0f0f0f0f-0000-4000-8000-00000000000ab', true],
    [newKey, 'x0f0f0f0f-0000-4000-8000-00000000000a', true],
    [idOrKey, '0F0F0F0F-0000-4000-8000-00000000000a', true],
    [idOrKey, 'new-checkout', true],
    [idOrKey, 'a/b', false],
    [idOrKey, '', false],
    [name, 'Grüße 😀', true],
    [name, 'a\tb', false],
    [name, ' \u00a0 ', false],
    [name, '\ud83d', false],
    [name, '\u{1f468}\u200d\u{1f469}', true],
    [name, '\u05d0\u0301', true],
    [name, '\u200b', false],
    [name, 'a\u200b', true],
    [name, '\u3164 \u2800', false],
    [name, '\u2060\u00ad\ufe0f', false],
    [name, 'a\u202eb', false],
    [name, '\u2067a\u2069', false],
    [name, 'a\u200f', false],
    [description, 'two\nlines', true],
    [description, '', true],
    [description, 'a\0', false],
    [description, 'x'.repeat(4097), false],
    [timestamp, '2030-01-01T00:00:00.000Z', true],
    [timestamp, '2030-01-01T00:00:00Z', false],
    [timestamp, '2030-02-30T00:00:00.000Z', false],
    [percentage, 33.333, true],
    [percentage, 0, true],
    [percentage, 100, true],
    [percentage, 100.001, false],
    [percentage, 0.0001, false],
    [percentage, Number.NaN, false],
  ])(
    'A scalar schema accepts a valid value or refuses an invalid value (row %#)',
    (schema, value, expected) => {
      expect(accepts(schema, value)).toBe(expected)
    },
  )

  it('Every text in the form of an id is refused as a new key', () => {
    const ids = ['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFF']
    for (const text of ids) expect([isId(text), accepts(newKey, text)]).toEqual([true, false])
    for (const text of ['shop', '0f0f0f0f00004000800000000000000a']) {
      expect([isId(text), accepts(newKey, text)]).toEqual([false, true])
    }
  })

  it('Decoding converts ids to lower case and trims names', () => {
    expect(z.decode(id, 'ABCDEFAB-0000-4000-8000-000000000000')).toBe(
      'abcdefab-0000-4000-8000-000000000000',
    )
    expect(z.decode(name, '  A flag ')).toBe('A flag')
  })

  it('The issue of a refused name contains the reason', () => {
    const faultOf = (text: string) => z.safeDecode(name, text).error?.issues[0]?.message
    expect(faultOf('\u200b')).toBe('must contain a visible character')
    expect(faultOf('a\u202eb')).toBe('must not contain bidirectional control characters')
  })

  it('Encoding accepts a stored name that decoding refuses', () => {
    for (const text of ['\u200b', 'a\u202eb']) expect(z.encode(name, text)).toBe(text)
    expect(z.safeEncode(name, 'a\tb').success).toBe(false)
  })

  it('A time of any zone decodes to a UTC timestamp', () => {
    expect(z.decode(instant, '2030-01-01T02:00:00+02:00')).toBe('2030-01-01T00:00:00.000Z')
    expect(z.decode(instant, '2030-01-01T00:00:00Z')).toBe('2030-01-01T00:00:00.000Z')
    for (const bad of [
      '2030-01-01',
      '2030-01-01T00:00:00',
      '9999-12-31T23:59:59-12:00',
      'now',
      '',
    ]) {
      expect(accepts(instant, bad)).toBe(false)
    }
  })

  it('A clearable field distinguishes undefined from null', () => {
    const tags = clearable(z.array(z.string()), [])
    expect(z.decode(tags, undefined)).toBe(undefined)
    expect(z.decode(tags, null)).toEqual([])
    expect(z.decode(tags, ['a'])).toEqual(['a'])
    expect(z.encode(tags, ['a'])).toEqual(['a'])
    expect(accepts(tags, 'a')).toBe(false)
  })

  it.each([
    [['a', 1, null], '["a",1,null]'],
    [{ a: [true] }, '{"a":[true]}'],
    ['[1]', '[1]'],
    ['', ''],
    [0, '0'],
    [false, 'false'],
  ])('The value %j of a condition decodes to the text %j', (value, text) => {
    const wire = { attribute: 'a', value }
    expect(z.decode(conditionInput, wire)).toEqual({ attribute: 'a', operator: 'eq', value: text })
  })

  it('A condition requires a value unless its operator takes no value', () => {
    const wire = { attribute: 'a', operator: 'exists' }
    expect(z.decode(conditionInput, wire)).toEqual({ ...wire, value: '' })
    const [issue] =
      z.safeDecode(conditionInput, { attribute: 'a', operator: 'in' }).error?.issues ?? []
    expect(issue).toMatchObject({ path: ['value'], message: 'is required' })
  })

  it('A condition with the value null is refused with a hint unless its operator takes no value', () => {
    for (const operator of [undefined, 'eq', 'in', 'not_in', 'gt', 'nonsense']) {
      const wire = { attribute: 'a', ...(operator && { operator }), value: null }
      expect(z.safeDecode(conditionInput, wire).error?.issues).toMatchObject([
        {
          path: ['value'],
          message: 'must not be null; to match a missing attribute, use the operator not_exists',
        },
      ])
    }
    for (const operator of ['exists', 'not_exists']) {
      const condition = z.decode(conditionInput, { attribute: 'a', operator, value: null })
      expect(condition).toEqual({ attribute: 'a', operator, value: '' })
    }
  })

  it('A condition value with an integer beyond 2^53 at any depth is refused', () => {
    const integer = 2 ** 53
    for (const value of [integer, -integer, 1e21, [integer], { a: [{ b: integer }] }]) {
      const { error } = z.safeDecode(conditionInput, { attribute: 'a', operator: 'in', value })
      expect(error?.issues).toMatchObject([
        {
          path: ['value'],
          message:
            'must not contain an integer that cannot be represented exactly; write it as text',
        },
      ])
    }
    for (const value of [integer - 1, 0.1, `${integer}`, [`${integer}`, 1.5]]) {
      expect(accepts(conditionInput, { attribute: 'a', operator: 'in', value })).toBe(true)
    }
  })

  it('The issue of a condition value that is too long names the field', () => {
    const wire = { attribute: 'a', value: Array(20_000).fill('abc') }
    expect(z.safeDecode(conditionInput, wire).error?.issues[0]?.path).toEqual(['value'])
  })
})
