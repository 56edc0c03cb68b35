import { describe, expect, it } from 'vitest'
import { bool, defineFlags, type FlagTypes, json, number, oneOf, text } from './flag-types.ts'
import { defineFlags as defineTypedFlags } from './typed-flags.ts'

const types = {
  'new-checkout': bool(false),
  title: text('Shop'),
  retries: number(3),
  theme: oneOf('light', 'dark'),
  limits: json<{ readonly max: number }>({ max: 1 }),
}
const flags = defineFlags(types)

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
