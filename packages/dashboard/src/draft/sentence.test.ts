import {
  compileFlagSet,
  evaluateFlag,
  type FlagSetDefinition,
  isOperator,
  type Operator,
  parseContext,
} from '@ff/core'
import { re2 } from '@ff/core/regex'
import type { Condition } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import { namesById } from '../../test/draft/any-configuration.ts'
import { operatorWords } from '../messages/en/operators.ts'
import { textOf } from '../messages/phrases/fragment.ts'
import { conditionSentence, segmentSentence, shown, shownList, stateSentence } from './sentence.ts'

/** A readable value of every operator. The type checker finds an operator without one. */
const VALUES: Record<Operator, string> = {
  exists: '',
  not_exists: '',
  eq: 'pro',
  neq: 'pro',
  eq_ci: 'pro',
  in: '["pro","team"]',
  not_in: '["pro","team"]',
  in_ci: '["pro","team"]',
  not_in_ci: '["pro","team"]',
  contains: '["pro","team"]',
  not_contains: '["pro","team"]',
  contains_ci: '["pro","team"]',
  not_contains_ci: '["pro","team"]',
  starts_with: '["pro","team"]',
  not_starts_with: '["pro","team"]',
  starts_with_ci: '["pro","team"]',
  not_starts_with_ci: '["pro","team"]',
  ends_with: '["pro","team"]',
  not_ends_with: '["pro","team"]',
  ends_with_ci: '["pro","team"]',
  not_ends_with_ci: '["pro","team"]',
  matches: 'a+',
  not_matches: 'a+',
  matches_ci: 'a+',
  str_gt: 'm',
  str_gte: 'm',
  str_lt: 'm',
  str_lte: 'm',
  gt: '5',
  gte: '5',
  lt: '5',
  lte: '5',
  between: '[1,5]',
  modulo: '4|1',
  before: '2030-01-31T12:00:00Z',
  after: '2030-01-31T12:00:00Z',
  semver_eq: '1.2.3',
  semver_gt: '1.2.3',
  semver_gte: '1.2.3',
  semver_lt: '1.2.3',
  semver_lte: '1.2.3',
  semver_in: '["1.2.3","2.0.0"]',
  not_semver_in: '["1.2.3","2.0.0"]',
  semver_major_eq: '1.2.3',
  semver_minor_eq: '1.2.3',
  in_cidr: '["10.0.0.0/8"]',
  not_in_cidr: '["10.0.0.0/8"]',
  array_contains_all: '["a","b"]',
  array_contains_none: '["a","b"]',
  array_size: '3',
  elem_match: '[{"attribute":"a","operator":"eq","value":"b"}]',
  is_type: '["string"]',
  in_bucket: '{"salt":"s","ranges":[[0,10]]}',
  in_segment: '["partners"]',
  not_in_segment: '["partners"]',
  flag_is: '["on","beta"]',
  flag_is_not: '["on","beta"]',
}

const ALL = Object.entries(VALUES).flatMap(([operator, value]): Condition[] => {
  const condition = { attribute: 'plan', operator, value }
  return [condition, { ...condition, negate: true }]
})

const words = (condition: Condition) => textOf(conditionSentence(condition, namesById))

function isTrueIfMissing(condition: Condition): boolean {
  const segment = { key: 'p', rules: [], logicalOp: 'AND', force: false } as const
  const keys = { keyAttribute: 'user.key', included: [], excluded: [] }
  const rule = { id: 'r', orderIndex: 0, createdAt: '', segmentId: null, rolloutId: null }
  const variations = [
    { id: 'no', key: 'no', value: 'false' },
    { id: 'yes', key: 'yes', value: 'true' },
  ]
  const flag = { id: 'f', key: 'f', type: 'boolean', isActive: true, variations } as const
  const state = { defaultVariationId: 'no', offVariationId: null, targets: [], prerequisites: [] }
  const rules = [{ ...rule, conditions: [condition], variationId: 'yes' }]
  const definition: FlagSetDefinition = {
    version: 1,
    flags: [{ ...flag, ...state, rules, rollouts: [] }],
    segments: [{ id: 'partners', ...segment, ...keys }],
  }
  const set = compileFlagSet(definition, { extensions: { regex: re2 } })
  return evaluateFlag(set, 'f', parseContext({ kind: 'user', key: 'u' }), 0).value === true
}

describe('conditionSentence', () => {
  it('Every operator of the engine has words, and every word belongs to an operator.', () => {
    expect([...operatorWords.keys()].sort()).toEqual(Object.keys(VALUES).sort())
    expect([...operatorWords.keys()].filter((name) => !isOperator(name))).toEqual([])
  })

  it('Conditions with different meanings have different words, negated too.', () => {
    const synonyms = new Set(['exists', 'not_exists', 'in_segment', 'not_in_segment'])
    const different = ALL.filter(({ operator, negate }) => !(negate && synonyms.has(operator)))
    const texts = different.map(words)
    expect(new Set(texts).size).toBe(texts.length)
  })

  it('The words say exactly for a missing attribute or flag whether the condition holds.', () => {
    const saysSo = (text: string) =>
      /or is not set|or is missing|plan is not set|^not in/.test(text)
    const wrong = ALL.filter((each) => saysSo(words(each)) !== isTrueIfMissing(each))
    expect(wrong.map(words)).toEqual([])
  })

  it('No condition contains "not (" or repeats a word.', () => {
    expect(ALL.map(words).filter((text) => /not \(|\b(\w+) \1\b/.test(text))).toEqual([])
  })

  it.each([
    ['eq', 'pro', 'plan is pro', 'plan is not pro (or is not set)'],
    ['neq', 'pro', 'plan is not pro (but is set)', 'plan is pro (or is not set)'],
    [
      'eq_ci',
      'pro',
      'plan is pro (ignoring case)',
      'plan is not pro (ignoring case, or is not set)',
    ],
    [
      'in',
      '["a","b","c"]',
      'plan is one of a, b and c',
      'plan is none of a, b and c (or is not set)',
    ],
    [
      'contains',
      '["a","b"]',
      'plan contains a or b',
      'plan does not contain a or b (or is not set)',
    ],
    [
      'modulo',
      '4|1',
      'plan has the remainder 1 when divided by 4',
      /does not have the remainder 1/,
    ],
    ['in_segment', '["p"]', 'in segment p', 'not in segment p'],
    ['flag_is', '["on"]', 'flag plan serves on', 'flag plan does not serve on (or is missing)'],
    ['nope', '1', 'plan nope 1', 'not (plan nope 1)'],
    ['__proto__', '1', 'plan __proto__ 1', 'not (plan __proto__ 1)'],
  ])('%s with %s reads "%s" and, negated, "%s".', (operator, value, plain, negated) => {
    const condition = { attribute: 'plan', operator, value }
    expect(words(condition)).toBe(plain)
    expect(words({ ...condition, negate: true })).toMatch(negated)
  })

  it('An unfinished list is shown as it is typed.', () => {
    expect(words({ attribute: 'plan', operator: 'in', value: '["pro"' })).toBe(
      'plan is one of ["pro"',
    )
    expect(words({ attribute: 'plan', operator: 'modulo', value: '4' })).toMatch(/ 4$/)
  })
})

describe('shown', () => {
  it('Markup and names of object properties are plain text.', () => {
    const text = '<img src=x onerror=alert(1)>'
    expect(shown(text)).toEqual({ text, kind: 'value' })
    expect(shown('__proto__')).toEqual({ text: '__proto__', kind: 'value' })
    expect(words({ attribute: text, operator: 'eq', value: '__proto__' })).toBe(
      `${text} is __proto__`,
    )
  })

  it('Characters that are invisible or change the direction of text are escaped.', () => {
    expect(shown('a\u202egnp\u2066\u200f').text).toBe('a\\u202egnp\\u2066\\u200f')
    expect(shown('a\nb\u0000\ufeff').text).toBe('a\\u000ab\\u0000\\ufeff')
    expect(shown('مرحبا 👩‍💻').text).toBe('مرحبا 👩‍💻')
  })

  it('A text of 65,536 characters is shortened with the number of the others.', () => {
    const { text } = shown('x'.repeat(65_536))
    expect(text).toBe(`${'x'.repeat(60)}… (65,476 more characters)`)
    expect(shown('x'.repeat(60)).text).toHaveLength(60)
    expect(shown('😀'.repeat(61)).text).toBe(`${'😀'.repeat(60)}… (1 more character)`)
  })

  it('An empty text is shown as two quotation marks.', () => {
    expect(shown('').text).toBe('""')
  })
})

describe('shownList', () => {
  const many = ['a', 'b', 'c', 'd']
  it('A list has no comma before its last conjunction, and a long list has a count.', () => {
    expect(textOf(shownList([]))).toBe('none')
    expect(textOf(shownList(['a', 'b', 'c']))).toBe('a, b and c')
    expect(textOf(shownList(many))).toBe('a, b and 2 more')
    expect(textOf(shownList(many, 'value', 'or'))).toBe('a, b or 2 more')
  })
})

describe('segmentSentence', () => {
  const rules = ['a', 'b'].map((value) => ({ attribute: 'plan', operator: 'eq', value }))
  it.each([
    ['AND', 'plan is a and plan is b'],
    ['OR', 'plan is a or plan is b'],
    ['NOT', 'none of these: plan is a or plan is b'],
  ] as const)('The conditions of a segment with %s read "%s".', (logicalOp, text) => {
    expect(textOf(segmentSentence({ rules, logicalOp }, namesById))).toBe(text)
  })
})

describe('stateSentence', () => {
  const state = { defaultVariationId: 'a', offVariationId: null, targets: [], prerequisites: [] }
  const said = (changes: object) => {
    const whole = { ...state, isActive: true, ...changes }
    return textOf(stateSentence({ state: whole, targetingRules: [] }, namesById))
  }

  it('A flag that is off serves its off variation, else its default variation.', () => {
    expect(said({})).toBe('On: everyone gets a')
    expect(said({ isActive: false, offVariationId: 'b' })).toBe('Off: everyone gets b')
    expect(said({ isActive: false })).toBe('Off: everyone gets a')
    expect(said({ defaultVariationId: null })).toBe(
      'On: everyone gets the default variation of the flag',
    )
  })

  it('With targets or rules, the default variation is for everyone else.', () => {
    const targets = [{ variationId: 'b', kind: 'user', keys: ['u-1'] }]
    expect(said({ targets })).toBe('On: rules apply, everyone else gets a')
    expect(said({ targets, isActive: false })).toBe('Off: everyone gets a')
  })
})
