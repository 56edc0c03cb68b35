import { describe, expect, it } from 'vitest'
import { conditionFault } from '../authoring/condition-fault.ts'
import type { ConditionDefinition } from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import { re2 } from '../regex.ts'
import {
  type CompiledCondition,
  ConditionCompiler,
  type ConditionScope,
  compileCondition,
  flagReferenceOf,
  holdsFor,
  matchesAll,
  matchesAny,
  matchesCondition,
  matchesNone,
} from './condition.ts'
import { operators } from './operator.ts'

const scope: ConditionScope = {
  context: { kind: 'user', key: 'ada', plan: 'pro', nothing: null },
  isInSegment: (segmentId) => segmentId === 'beta',
  servedVariation: (flagKey) => (flagKey === 'checkout' ? 'new' : undefined),
}

function holds(definition: ConditionDefinition): boolean {
  return matchesCondition(compileCondition(definition), scope)
}

describe('Conditions on attributes', () => {
  it('A condition reads the attribute by its reference', () => {
    expect(holds({ attribute: 'plan', operator: 'eq', value: 'pro' })).toBe(true)
    expect(holds({ attribute: 'user.plan', operator: 'eq', value: 'pro' })).toBe(true)
    expect(holds({ attribute: '/plan', operator: 'eq', value: 'pro' })).toBe(true)
    expect(holds({ attribute: 'toString', operator: 'exists', value: '' })).toBe(false)
    expect(holds({ attribute: 'nothing', operator: 'exists', value: '' })).toBe(false)
  })

  it('A condition on kind matches any kind of a multi context', () => {
    const context = { kind: 'multi', user: { key: 'ada' }, organization: { key: 'acme' } } as const
    const isFor = (value: string, operator = 'eq') =>
      matchesCondition(compileCondition({ attribute: 'kind', operator, value }), {
        ...scope,
        context,
      })
    expect(isFor('organization')).toBe(true)
    expect(isFor('device')).toBe(false)
    expect(isFor('organization', 'neq')).toBe(false)
    expect(isFor('device', 'neq')).toBe(true)
  })

  it('eq and neq compare a text with the whole value, even if the value is a list', () => {
    const isFor = (operator: string, value: string) => {
      const context = { kind: 'user', key: 'ada', plan: 'pro', list: '["pro"]', array: ['pro'] }
      return ['plan', 'list', 'array'].map((attribute) => {
        const condition = compileCondition({ attribute, operator, value })
        return matchesCondition(condition, { ...scope, context })
      })
    }
    expect(isFor('eq', '["pro"]')).toEqual([false, true, true])
    expect(isFor('neq', '["pro"]')).toEqual([true, false, false])
    expect(isFor('in', '["pro"]')).toEqual([true, false, true])
    expect(isFor('not_in', '["pro"]')).toEqual([false, true, false])
  })

  it('The negation has the opposite result, also for a missing attribute', () => {
    for (const attribute of ['plan', 'missing']) {
      for (const operator of ['eq', 'neq', 'exists', 'not_exists', 'gt', 'not_contains']) {
        const definition = { attribute, operator, value: '5' }
        expect(holds({ ...definition, negate: true })).toBe(!holds(definition))
        expect(holds({ ...definition, negate: false })).toBe(holds(definition))
      }
    }
  })
})

describe('ConditionCompiler', () => {
  const plain = { attribute: 'plan', operator: 'eq', value: 'pro' }
  const compilerOf = (extensions: Extensions) => {
    const compiler = new ConditionCompiler(extensions)
    return (definition: ConditionDefinition) => compiler.compile(definition)
  }

  it('ConditionCompiler compiles equal conditions once and different conditions separately', () => {
    const compile = compilerOf({})
    const different = [
      plain,
      { ...plain, negate: true },
      { ...plain, operator: 'neq' },
      { ...plain, value: 'pr' },
      { ...plain, attribute: 'planp', value: 'ro' },
      { ...plain, attribute: 'plan ', value: 'pro' },
    ]
    const compiled = different.map((definition) => compile(definition))
    expect(new Set(compiled).size).toBe(different.length)
    expect(different.map((definition) => compile({ ...definition }))).toEqual(compiled)
    for (const [index, definition] of different.entries()) {
      expect(compile({ ...definition })).toBe(compiled[index])
    }
    expect(compile({ ...plain, negate: false })).toBe(compiled[0])
  })

  it('ConditionCompiler distinguishes conditions with the same concatenated text', () => {
    const readable = { attribute: 'a', operator: 'eq', value: ' b' }
    const unreadable = { attribute: 'b', operator: 'eq a', value: '' }
    const isReadable = ({ test }: CompiledCondition) => test !== undefined
    const compile = compilerOf({})
    expect([unreadable, readable].map((each) => isReadable(compile(each)))).toEqual([false, true])
    const inOtherOrder = compilerOf({})
    expect([readable, unreadable].map((each) => isReadable(inOtherOrder(each)))).toEqual([
      true,
      false,
    ])
  })

  it('ConditionCompiler never reuses a condition for one that is not well-formed', () => {
    const compile = compilerOf({})
    const odd = { attribute: 1, operator: 'eq', value: 'pro' } as unknown as ConditionDefinition
    expect(() => matchesCondition(compile(odd), scope)).not.toThrow()
    expect(matchesCondition(compile(plain), scope)).toBe(true)
    expect(matchesCondition(compile(odd), scope)).toBe(false)
  })

  it('canRefer returns true for operators on segments, flags and buckets, and for patterns without an engine', () => {
    const referring = (extensions: Extensions) => {
      const compiler = new ConditionCompiler(extensions)
      const names = [...operators.keys(), 'unknown', 'constructor']
      return names.filter((operator) => compiler.canRefer({ ...plain, operator }))
    }
    const always = ['in_bucket', 'in_segment', 'not_in_segment', 'flag_is', 'flag_is_not']
    const patterns = ['matches', 'not_matches', 'matches_ci', 'elem_match']
    expect(referring({ regex: () => undefined })).toEqual(always)
    expect(referring({})).toEqual([...patterns, ...always])
  })
})

describe('Conditions on segments', () => {
  const inSegment = (value: string) => holds({ attribute: '', operator: 'in_segment', value })
  const notIn = (value: string) => holds({ attribute: '', operator: 'not_in_segment', value })

  it('in_segment matches if the context is in any of the segments', () => {
    expect(inSegment('beta')).toBe(true)
    expect(inSegment('["alpha", "beta"]')).toBe(true)
    expect(inSegment('["alpha"]')).toBe(false)
    expect(inSegment('[]')).toBe(false)
  })

  it('not_in_segment matches if the context is in none of the segments', () => {
    expect(notIn('beta')).toBe(false)
    expect(notIn('["alpha", "beta"]')).toBe(false)
    expect(notIn('["alpha"]')).toBe(true)
    expect(notIn('[]')).toBe(true)
  })

  it('A compiled condition lists its segments', () => {
    const condition = compileCondition({
      attribute: 'ignored',
      operator: 'not_in_segment',
      value: '["alpha", "beta"]',
    })
    expect(condition.segmentIds).toEqual(['alpha', 'beta'])
    expect(condition.flagKey).toBeUndefined()
  })
})

describe('Conditions on flags', () => {
  const flagIs = (attribute: string, value: string) =>
    holds({ attribute, operator: 'flag_is', value })
  const flagIsNot = (attribute: string, value: string) =>
    holds({ attribute, operator: 'flag_is_not', value })

  it('flag_is matches if the flag serves one of the variations', () => {
    expect(flagIs('checkout', 'new')).toBe(true)
    expect(flagIs('checkout', '["old", "new"]')).toBe(true)
    expect(flagIs('checkout', 'NEW')).toBe(false)
    expect(flagIs('checkout', '[]')).toBe(false)
  })

  it('flag_is_not matches if the flag serves another variation', () => {
    expect(flagIsNot('checkout', 'old')).toBe(true)
    expect(flagIsNot('checkout', 'new')).toBe(false)
    expect(flagIsNot('checkout', '[]')).toBe(true)
  })

  it('An unknown flag, or one that serves no variation, counts as missing', () => {
    expect(flagIs('unknown', 'new')).toBe(false)
    expect(flagIsNot('unknown', 'new')).toBe(false)
    const negated = { attribute: 'unknown', operator: 'flag_is', value: 'new', negate: true }
    expect(holds(negated)).toBe(true)
  })

  it('A compiled condition has the key of its flag', () => {
    const definition = { attribute: 'checkout', operator: 'flag_is', value: 'new' }
    expect(compileCondition(definition).flagKey).toBe('checkout')
    expect(compileCondition({ ...definition, value: '[null]' }).flagKey).toBeUndefined()
    expect(compileCondition({ ...definition, operator: 'eq' }).flagKey).toBeUndefined()
  })
})

describe('flagReferenceOf', () => {
  it('flagReferenceOf returns the flag and the variations of a condition on a flag', () => {
    const definition = { attribute: 'checkout', operator: 'flag_is_not', value: '["old", "new"]' }
    const reference = { flagKey: 'checkout', variationKeys: ['old', 'new'] }
    expect(flagReferenceOf(definition)).toEqual(reference)
    expect(flagReferenceOf({ ...definition, value: '[null]' })).toEqual({
      ...reference,
      variationKeys: [],
    })
  })

  it('flagReferenceOf returns undefined for a condition that is not about a flag', () => {
    const operators = ['eq', 'in_segment', 'nonsense']
    for (const operator of operators) {
      expect(flagReferenceOf({ attribute: 'checkout', operator, value: 'new' })).toBeUndefined()
    }
  })
})

describe('The test of a condition', () => {
  const withValue = (operator: string, length: number) => {
    const definition = { attribute: 'plan', operator, value: 'p'.repeat(length) }
    return compileCondition(definition, { regex: (pattern) => (text) => text.includes(pattern) })
  }

  it('A test is prepared once, unless it is a short regular expression, which is compiled at once', () => {
    const prepared = (operator: string, length: number) => {
      const { test } = withValue(operator, length)
      return [test?.prepare(), test?.prepare()]
    }
    expect(prepared('matches', 64)).toEqual([false, false])
    expect(prepared('matches', 65)).toEqual([true, false])
    expect(prepared('contains', 1)).toEqual([true, false])
  })

  it.each(['contains', 'matches'])(
    'A test with the operator "%s" has the same results after its preparation',
    (operator) => {
      const condition = withValue(operator, 3)
      const results = () => [2, 4].map((found) => holdsFor(condition, 'p'.repeat(found)))
      expect(results()).toEqual([false, true])
      condition.test?.prepare()
      expect(results()).toEqual([false, true])
    },
  )
})

describe('StringSetCondition', () => {
  const compile = (operator: string, value: string, negate = false) => {
    return compileCondition({ attribute: 'plan', operator, value, negate })
  }

  it.each([
    ['eq', 'a', ['b', 'a', 'c'], true],
    ['eq', 'a', ['b', 'c'], false],
    ['neq', 'a', ['b', 'a'], false],
    ['neq', 'a', ['b', 'c'], true],
    ['in', '["a", "b"]', ['b'], true],
    ['in', '["a", "b"]', ['c', 'd', 'e', 'b'], true],
    ['in', '["a", "b"]', ['c', 'd'], false],
    ['in', '["a", "b"]', [], false],
    ['not_in', '["a", 7]', ['7'], false],
    ['not_in', '["a", 7]', ['b', 'c', 'd'], true],
    // A structure can equal the whole array, so that its texts are not enough.
    ['eq', '["a"]', ['a'], undefined],
    ['in', '["a", {"b": 1}]', ['a'], undefined],
    ['not_in', '["a", "[1]"]', ['b'], undefined],
  ])('holdsForAny for the operator %s, the value %j and the texts %j returns %j', (...row) => {
    const [operator, value, texts, expected] = row
    const { stringSet } = compile(operator, value)
    // The second result comes from the parsed strings.
    for (const _ of ['first', 'second'])
      expect(stringSet?.holdsForAny(new Set(texts))).toBe(expected)
    const negated = compile(operator, value, true).stringSet?.holdsForAny(new Set(texts))
    expect(negated).toBe(expected === undefined ? undefined : !expected)
  })

  it('Only operators that compare a text with a set of strings have a StringSetCondition', () => {
    const having = [...operators.keys()].filter(
      (each) => compile(each, '1').stringSet !== undefined,
    )
    expect(having).toEqual(['eq', 'neq', 'in', 'not_in'])
    expect(compile('in', '[null]').stringSet).toBeUndefined()
  })
})

describe('Invalid conditions', () => {
  const garbage: unknown[] = [
    undefined,
    null,
    5,
    'eq',
    [],
    {},
    { attribute: 'plan', operator: 'eq' },
    { attribute: 'plan', operator: 'eq', value: 5 },
    { attribute: 5, operator: 'eq', value: 'pro' },
    { attribute: 'plan', operator: { toString: [] }, value: 'pro' },
    { attribute: 'plan', operator: '__proto__', value: 'pro' },
    { attribute: 'plan', operator: 'Eq', value: 'pro' },
    { attribute: 'plan', operator: 'gt', value: 'four' },
    { attribute: 'plan', operator: 'in', value: '[null]' },
  ]

  it('An invalid condition never matches, negated or not, and never throws', () => {
    for (const definition of garbage) {
      expect(holds(definition as ConditionDefinition)).toBe(false)
      if (typeof definition === 'object') {
        const negated = { ...definition, negate: true }
        expect(holds(negated as unknown as ConditionDefinition)).toBe(false)
      }
    }
  })

  it('An invalid condition on a value never holds', () => {
    for (const definition of garbage) {
      expect(holdsFor(compileCondition(definition as ConditionDefinition), 'pro')).toBe(false)
    }
  })

  it('A negated condition on networks is invalid if any of its networks is', () => {
    const definition = { attribute: 'ip', operator: 'in_cidr', value: '["10.0.0.0/8", "x"]' }
    const context = { kind: 'user', ip: '11.0.0.1' }
    const negated = compileCondition({ ...definition, negate: true })
    expect(matchesCondition(negated, { ...scope, context })).toBe(false)
    const valid = compileCondition({ ...definition, value: '["10.0.0.0/8"]', negate: true })
    expect(matchesCondition(valid, { ...scope, context })).toBe(true)
  })

  it('conditionFault describes every invalid condition', () => {
    for (const definition of garbage) {
      expect(conditionFault(definition as ConditionDefinition)).toMatch(/^[A-Z].*[.?]$/)
    }
  })
})

describe('conditionFault', () => {
  it('conditionFault returns undefined for a valid condition', () => {
    expect(conditionFault({ attribute: 'plan', operator: 'eq', value: '' })).toBeUndefined()
    expect(conditionFault({ attribute: '', operator: 'in_segment', value: '[]' })).toBeUndefined()
  })

  it.each([
    ['eqals', '1', 'There is no operator "eqals". Did you mean "eq"?'],
    ['gt', 'four', 'The value of "gt" must be a decimal number.'],
    ['in', '[null]', 'The value of "in" must be text or a JSON array without null.'],
    ['contains', '[{}]', 'The value of "contains" must be text or a JSON array of texts.'],
    [
      'between',
      '[3, 1]',
      'The value of "between" must be a JSON array of two numbers, the lower one first.',
    ],
    [
      'before',
      '2024-01-01',
      'The value of "before" must be an RFC 3339 timestamp with a time zone, or epoch milliseconds.',
    ],
    ['semver_gt', '1.2.3.4', 'The value of "semver_gt" must be a semantic version.'],
    [
      'semver_in',
      '["1", "x"]',
      'The value of "semver_in" must be a semantic version or a JSON array of them.',
    ],
    ['in_segment', '[[]]', 'The value of "in_segment" must be text or a JSON array of texts.'],
    [
      'modulo',
      '0|1',
      'The value of "modulo" must be a divisor other than 0 and a remainder, such as 10|3.',
    ],
    [
      'is_type',
      'date',
      'The value of "is_type" must be one of string, number, boolean, array, object, semver, or a JSON array of them.',
    ],
    [
      'array_size',
      '{"op": "most"}',
      'The value of "array_size" must be a number, or a JSON object such as {"op": "gte", "value": 2}.',
    ],
    [
      'elem_match',
      '{}',
      'The value of "elem_match" must be a JSON array of at most 64 conditions on attributes of an element.',
    ],
    [
      'in_bucket',
      '{"salt": "s"}',
      'The value of "in_bucket" must be a JSON object with a salt, ranges in ascending order without overlaps, and optionally a scheme and a totalWeight (an integer from 1 to 100000), such as {"salt": "s", "ranges": [[0, 5000]]}.',
    ],
    [
      'in_cidr',
      '[{}]',
      'The value of "in_cidr" must be an IP address or a network in CIDR notation, or a JSON array of them.',
    ],
  ])('conditionFault describes the fault of %s with the value %j', (operator, value, fault) => {
    expect(conditionFault({ attribute: 'a', operator, value })).toBe(fault)
  })

  it('Only existence, equality and the order of texts accept a list with null as a value', () => {
    const lenient = [...operators.keys()].filter(
      (operator) => conditionFault({ attribute: 'a', operator, value: '[null]' }) === undefined,
    )
    expect(lenient).toEqual([
      ...['exists', 'not_exists', 'eq', 'neq', 'eq_ci'],
      ...['str_gt', 'str_gte', 'str_lt', 'str_lte'],
    ])
  })
})

describe('Conditions that require an extension', () => {
  const pattern = { attribute: 'plan', operator: 'matches', value: '^p' }
  const foreign = { salt: 's', scheme: 'elsewhere', ranges: [[0, 100_000]] }
  const share = { attribute: 'key', operator: 'in_bucket', value: JSON.stringify(foreign) }
  const nested = {
    attribute: 'plan',
    operator: 'elem_match',
    value: JSON.stringify([{ ...pattern, attribute: '' }]),
  }

  it('A condition without its extension never matches, negated or not, and names the extension', () => {
    for (const definition of [pattern, share, nested]) {
      expect(holds(definition)).toBe(false)
      expect(holds({ ...definition, negate: true })).toBe(false)
    }
    expect(compileCondition(pattern).missing).toEqual(['regex engine'])
    expect(compileCondition(nested).missing).toEqual(['regex engine'])
    expect(compileCondition(share).missing).toEqual(['bucketing scheme "elsewhere"'])
    expect(conditionFault(nested)).toBe(
      '"elem_match" requires the regex engine, which is not available.',
    )
  })

  it('A condition with its extension has no missing extensions', () => {
    for (const definition of [pattern, nested]) {
      expect(compileCondition(definition, { regex: re2 }).missing).toEqual([])
      expect(conditionFault(definition, { regex: re2 })).toBeUndefined()
    }
    const schemes = new Map([['elsewhere', () => () => 7]])
    expect(conditionFault(share, { schemes })).toBeUndefined()
    expect(matchesCondition(compileCondition(share, { schemes }), scope)).toBe(true)
  })

  it('An invalid pattern is refused', () => {
    const fault = conditionFault({ ...pattern, value: '(' }, { regex: re2 })
    expect(fault).toMatch(/^The value of "matches" must be a valid RE2 regular expression/)
  })
})

describe('Combinations of conditions', () => {
  const yes = compileCondition({ attribute: 'plan', operator: 'eq', value: 'pro' })
  const no = compileCondition({ attribute: 'plan', operator: 'eq', value: 'free' })

  it('matchesAll returns true if all conditions match', () => {
    expect(matchesAll([yes, yes], scope)).toBe(true)
    expect(matchesAll([yes, no], scope)).toBe(false)
    expect(matchesAll([], scope)).toBe(true)
  })

  it('matchesAny returns true if at least one condition matches', () => {
    expect(matchesAny([no, yes], scope)).toBe(true)
    expect(matchesAny([no, no], scope)).toBe(false)
    expect(matchesAny([], scope)).toBe(false)
  })

  it('matchesNone returns true if no condition matches', () => {
    expect(matchesNone([no, no], scope)).toBe(true)
    expect(matchesNone([no, yes], scope)).toBe(false)
    expect(matchesNone([], scope)).toBe(true)
  })
})
