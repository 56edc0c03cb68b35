import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition, ruleDefinition } from '../test/definitions.ts'
import { evaluateFlag } from './evaluation/evaluate.ts'
import { compileFlagSet } from './evaluation/flag-set.ts'
import type { FlagDefinition } from './model/definition.ts'
import { isFlagError } from './model/errors.ts'
import type { FlagValueType } from './model/value.ts'
import { bool, defineFlags, json, number, oneOf, text } from './typed-flags.ts'

const NOW = 0
const user = { kind: 'user', key: 'user-1' }

interface Limits {
  readonly max: number
}

function isLimits(value: unknown): value is Limits {
  return typeof value === 'object' && value !== null && 'max' in value
}

/** Returns a flag that serves a value to every context. */
function serving(key: string, type: FlagValueType, value: string): FlagDefinition {
  const variations = [{ id: 'it', key: 'it', value }]
  return flagDefinition(key, { type, variations, defaultVariationId: 'it' })
}

function flagSetOf(...flags: readonly FlagDefinition[]) {
  return compileFlagSet(flagSetDefinition(flags))
}

describe('defineFlags', () => {
  const flags = defineFlags({
    'new-checkout': bool(false),
    title: text('Shop'),
    retries: number(3),
    theme: oneOf('light', 'dark'),
    limits: json<Limits>({ max: 1 }, isLimits),
    notes: json<readonly string[]>(),
  })
  const fallbacks = {
    'new-checkout': false,
    title: 'Shop',
    retries: 3,
    theme: 'light',
    limits: { max: 1 },
    notes: null,
  }
  const served = {
    'new-checkout': true,
    title: '',
    retries: 0,
    theme: 'dark',
    limits: { max: 9 },
    notes: ['a'],
  }
  const sound = flagSetOf(
    serving('new-checkout', 'boolean', 'true'),
    serving('title', 'string', ''),
    serving('retries', 'number', '0'),
    serving('theme', 'string', 'dark'),
    serving('limits', 'json', '{"max":9}'),
    serving('notes', 'json', '["a"]'),
    serving('undefined-flag', 'string', 'x'),
  )
  const keys = Object.keys(fallbacks) as (keyof typeof fallbacks)[]

  it('Defined flags have the values that are served, including false, 0 and the empty text', () => {
    for (const key of keys) expect(flags.value(sound, key, user, NOW)).toEqual(served[key])
    expect({ ...flags.all(sound, user, NOW) }).toEqual(served)
    expect({ ...flags.allFrom(served) }).toEqual(served)
  })

  it('Defined flags have their fallbacks if the flag set does not contain them', () => {
    const nothing = flagSetOf()
    for (const key of keys) expect(flags.value(nothing, key, user, NOW)).toEqual(fallbacks[key])
    expect({ ...flags.all(nothing, user, NOW) }).toEqual(fallbacks)
    expect({ ...flags.allFrom({}) }).toEqual(fallbacks)
    expect(flags.detail(nothing, 'theme', user, NOW)).toEqual({
      ...evaluateFlag(nothing, 'theme', user, NOW),
      value: 'light',
      errorCode: 'FLAG_NOT_FOUND',
    })
  })

  it('A defined flag has its fallback and the error TYPE_MISMATCH if the value has another type', () => {
    const other = flagSetOf(
      serving('new-checkout', 'string', 'true'),
      serving('title', 'json', 'null'),
      serving('retries', 'string', '5'),
      serving('theme', 'string', 'blue'),
      serving('limits', 'json', '[]'),
    )
    expect({ ...flags.all(other, user, NOW) }).toEqual(fallbacks)
    for (const key of ['new-checkout', 'title', 'retries', 'theme', 'limits'] as const) {
      expect(flags.value(other, key, user, NOW)).toEqual(fallbacks[key])
      expect(flags.detail(other, key, user, NOW)).toEqual({
        flagKey: key,
        value: fallbacks[key],
        variationId: null,
        variationKey: null,
        reason: 'ERROR',
        errorCode: 'TYPE_MISMATCH',
      })
    }
  })

  it('A detail keeps the other fields of the evaluation if the value has another type', () => {
    const rules = [ruleDefinition({ id: 'first', variationId: 'it' })]
    const flag = { ...serving('theme', 'string', 'blue'), rules }
    expect(flags.detail(flagSetOf(flag), 'theme', user, NOW)).toMatchObject({
      value: 'light',
      ruleId: 'first',
      errorCode: 'TYPE_MISMATCH',
    })
  })

  it('A detail has the fallback and the reason ERROR if a broken flag serves no variation', () => {
    const broken = flagSetOf(serving('retries', 'number', 'many'))
    expect(flags.detail(broken, 'retries', user, NOW)).toMatchObject({
      value: 3,
      reason: 'ERROR',
      errorCode: 'MALFORMED_FLAG',
    })
  })

  it('A detail equals that of the engine if the value has the expected type', () => {
    for (const key of keys) {
      expect(flags.detail(sound, key, user, NOW)).toEqual(evaluateFlag(sound, key, user, NOW))
    }
  })

  it('A JSON type without a guard accepts any JSON except null, and null only as the fallback', () => {
    const unguarded = defineFlags({ a: json<Limits>({ max: 1 }), b: json<Limits>() })
    expect({ ...unguarded.allFrom({ a: 7, b: 7 }) }).toEqual({ a: 7, b: 7 })
    expect({ ...unguarded.allFrom({ a: null, b: null }) }).toEqual({ a: { max: 1 }, b: null })
    const nulls = flagSetOf(serving('a', 'json', 'null'), serving('b', 'json', 'null'))
    expect(unguarded.detail(nulls, 'a', user, NOW).errorCode).toBe('TYPE_MISMATCH')
    expect(unguarded.detail(nulls, 'b', user, NOW).errorCode).toBeUndefined()
  })

  it('Defined flags can have names such as __proto__ and toString', () => {
    const odd = defineFlags({ ['__proto__']: bool(true), toString: oneOf('x', 'y') })
    expect(Object.entries(odd.all(flagSetOf(), user, NOW))).toEqual([
      ['__proto__', true],
      ['toString', 'x'],
    ])
    expect(odd.value(flagSetOf(), 'toString', user, NOW)).toBe('x')
    const values = JSON.parse('{"__proto__":false,"toString":"y"}')
    expect(JSON.stringify(odd.allFrom(values))).toBe('{"__proto__":false,"toString":"y"}')
  })

  it('An undefined key throws NOT_FOUND, also if the compiler does not check it', () => {
    const untyped = flags as ReturnType<typeof defineFlags<Record<string, unknown>>>
    for (const key of ['undefined-flag', 'toString']) {
      try {
        untyped.value(sound, key, user, NOW)
        expect.unreachable()
      } catch (error) {
        const message = `"${key}" is not one of the defined flags`
        expect(isFlagError(error) && error).toMatchObject({ code: 'NOT_FOUND', message })
      }
    }
  })
})
