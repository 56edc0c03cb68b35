import { describe, expect, it } from 'vitest'
import {
  bool,
  defineFlags,
  type FlagType,
  type FlagTypes,
  json,
  number,
  oneOf,
  text,
} from './flag-types.ts'
import { defineFlags as defineTypedFlags } from './typed-flags.ts'

const types = {
  'new-checkout': bool(false),
  title: text('Shop'),
  retries: number(3),
  theme: oneOf('light', 'dark'),
  limits: json<{ readonly max: number }>({ max: 1 }),
}
const flags = defineFlags(types)

describe('The flag types', () => {
  it('A flag type has the type of the flag, the fallback and, if there are only a few, all values', () => {
    expect(bool(true)).toMatchObject({ type: 'boolean', fallback: true, values: [true, false] })
    expect(text('a')).toMatchObject({ type: 'string', fallback: 'a' })
    expect(number(1)).toMatchObject({ type: 'number', fallback: 1 })
    expect(oneOf('a', 'b')).toMatchObject({ type: 'string', fallback: 'a', values: ['a', 'b'] })
    expect(json()).toMatchObject({ type: 'json', fallback: null })
  })

  it('isValue accepts exactly the values of the flag type', () => {
    const all = [true, 'light', 'x', 1, Number.NaN, null, { max: 1 }]
    const accepted = (type: FlagType<unknown>) => all.filter((value) => type.isValue(value))
    expect(accepted(bool(false))).toEqual([true])
    expect(accepted(text('Shop'))).toEqual(['light', 'x'])
    expect(accepted(oneOf('light', 'dark'))).toEqual(['light'])
    expect(accepted(number(3))).toEqual([1])
    expect(accepted(json({ max: 1 }))).toEqual(all.filter((value) => value !== null))
  })
})

describe('defineFlags of @ff/core/flag-types', () => {
  it('Flag types have the types and allFrom, and no functions of the engine', () => {
    expect(Object.keys(flags)).toEqual(['types', 'allFrom'])
    expect(flags.types).toBe(types)
    expect(flags.types.theme.fallback).toBe('light')
    expect(flags.types.theme.isValue('sepia')).toBe(false)
  })

  it('allFrom returns values of the expected type, and the fallback for all others', () => {
    const values = { 'new-checkout': true, title: 7, theme: 'sepia', limits: null, other: 'x' }
    expect({ ...flags.allFrom(values) }).toEqual({
      'new-checkout': true,
      title: 'Shop',
      retries: 3,
      theme: 'light',
      limits: { max: 1 },
    })
    expect(Object.getPrototypeOf(flags.allFrom(values))).toBeNull()
  })

  it('allFrom does not read inherited values', () => {
    const odd = defineFlags({ toString: text('fallback'), ['__proto__']: bool(true) })
    expect(Object.entries(odd.allFrom({}))).toEqual([
      ['toString', 'fallback'],
      ['__proto__', true],
    ])
  })

  it('allFrom returns the same as allFrom of @ff/core/typed-flags, which is a FlagTypes', () => {
    const typed: FlagTypes<{ readonly title: string }> = defineTypedFlags({ title: text('Shop') })
    const values = { title: 'Market' }
    expect(typed.allFrom(values)).toEqual(defineFlags(typed.types).allFrom(values))
  })
})
