import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { conditionFault } from '../authoring/condition-fault.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { ConditionDefinition } from '../model/definition.ts'
import { containsInexact, type JsonValue } from '../model/json.ts'
import { re2 } from '../regex.ts'
import { type ConditionScope, compileCondition, matchesCondition } from './condition.ts'
import { type Operator, operators } from './operator.ts'

const NEGATIVES: readonly (readonly [Operator, Operator])[] = [
  ['exists', 'not_exists'],
  ['eq', 'neq'],
  ['in', 'not_in'],
  ['in_ci', 'not_in_ci'],
  ['contains', 'not_contains'],
  ['contains_ci', 'not_contains_ci'],
  ['starts_with', 'not_starts_with'],
  ['starts_with_ci', 'not_starts_with_ci'],
  ['ends_with', 'not_ends_with'],
  ['ends_with_ci', 'not_ends_with_ci'],
  ['semver_in', 'not_semver_in'],
  ['matches', 'not_matches'],
  ['in_cidr', 'not_in_cidr'],
  ['in_segment', 'not_in_segment'],
  ['flag_is', 'flag_is_not'],
]

const EXTENSIONS = { regex: re2 }
const read = (condition: ConditionDefinition) => compileCondition(condition, EXTENSIONS)

const TEXTS = [
  '',
  'a',
  'A',
  '10.0.0.1',
  '::1',
  'ab',
  '1',
  '1.0',
  '2.0.0-rc.1',
  'true',
  '2024-01-01T00:00:00Z',
  'İ',
]
const NUMBERS = [0, 1, -1, 1.5, 2 ** 53, 1e21, 1_704_067_200_000]

const scalar = fc.oneof(
  fc.constantFrom<JsonValue>(...TEXTS, ...NUMBERS, true, false, null),
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

const json = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 4 }),
  fc.jsonValue({ maxDepth: 4 }).map((value) => value as JsonValue),
)

const operator = fc.constantFrom(...operators.keys())

const value = fc.oneof(
  fc.constantFrom(
    '10.0.0.0/8',
    '["10.0.0.0/8", "x"]',
    '5|1',
    'string',
    '[a-z]+(',
    '(a+)+$',
    '2',
    '{"op": "gt", "value": 1}',
  ),
  fc.constantFrom('{"salt": "s", "ranges": [[0, 50000]]}', '[{"attribute": "", "operator": "eq"}]'),
  fc.constantFrom(...TEXTS, '["a", "b"]', '[1, 2]', '[]', '[null]', '["1.0", "2"]', '{"a": 1}'),
  fc.array(scalar, { maxLength: 4 }).map((list) => JSON.stringify(list)),
  json.map((list) => JSON.stringify(list)),
  fc.string({ unit: 'binary' }),
)

const definition: fc.Arbitrary<ConditionDefinition> = fc.record({
  attribute: fc.constantFrom('it', 'user.it', '/it', 'missing', 'flag'),
  operator,
  value,
})

const scope: fc.Arbitrary<ConditionScope> = fc
  .tuple(fc.option(json, { nil: undefined }), fc.boolean(), fc.constantFrom('a', '1', undefined))
  .map(([it, isIn, served]) => ({
    context: (it === undefined ? { kind: 'user' } : { kind: 'user', it }) as EvaluationContext,
    isInSegment: () => isIn,
    servedVariation: () => served,
  }))

/** Returns `true` if no attribute contains an integer that is not exact. */
const isExact = ({ context }: ConditionScope) => !containsInexact(context as JsonValue)

describe('matchesCondition for any context, operator and value', () => {
  it('matchesCondition returns the same boolean for repeated calls, and never throws', () => {
    fc.assert(
      fc.property(definition, scope, (condition, where) => {
        const compiled = read(condition)
        const holds = matchesCondition(compiled, where)
        expect(typeof holds).toBe('boolean')
        expect(matchesCondition(compiled, where)).toBe(holds)
        expect(matchesCondition(read(condition), where)).toBe(holds)
      }),
      { numRuns: runs(5000) },
    )
  })

  it('The negation of a valid condition has the opposite result, and an invalid condition never matches', () => {
    fc.assert(
      fc.property(definition, scope, (condition, where) => {
        const negation = { ...condition, negate: true }
        const plain = matchesCondition(read(condition), where)
        const negated = matchesCondition(read(negation), where)
        const isReadable = conditionFault(condition, EXTENSIONS) === undefined
        // A network list with an invalid entry is valid only if it is not negated.
        const isNegatable = conditionFault(negation, EXTENSIONS) === undefined
        if (!isReadable) expect(plain || isNegatable).toBe(false)
        if (isReadable && isNegatable && isExact(where)) expect(plain || negated).toBe(true)
        if (!isNegatable) expect(negated).toBe(false)
        expect(plain && negated).toBe(false)
      }),
      { numRuns: runs(5000) },
    )
  })

  it('A condition and its negative form never match the same context', () => {
    fc.assert(
      fc.property(definition, scope, fc.constantFrom(...NEGATIVES), (condition, where, pair) => {
        const [holds, holdsNot] = pair.map((name) =>
          matchesCondition(read({ ...condition, operator: name }), where),
        )
        expect(holds && holdsNot).toBe(false)
      }),
      { numRuns: runs(5000) },
    )
  })

  it('No condition matches a missing attribute, except with not_exists and not_in_segment', () => {
    fc.assert(
      fc.property(operator, value, (name, text) => {
        const compiled = read({ attribute: 'it', operator: name, value: text })
        const holds = matchesCondition(compiled, {
          context: { kind: 'user', it: null },
          isInSegment: () => false,
          servedVariation: () => undefined,
        })
        expect(holds && name !== 'not_exists' && name !== 'not_in_segment').toBe(false)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('A condition matches an array if it matches an element, and a negative form only if none matches', () => {
    const elements = fc.array(scalar, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(
        fc.constantFrom(...NEGATIVES.slice(1, -2)),
        value,
        elements,
        (pair, text, list) => {
          const holds = (name: Operator, it: JsonValue) =>
            matchesCondition(read({ attribute: 'it', operator: name, value: text }), {
              context: { kind: 'user', it },
              isInSegment: () => false,
              servedVariation: () => undefined,
            })
          const [positive, negative] = pair
          const hasMatch = list.some((element) => holds(positive, element))
          // An array can also equal the value as a whole.
          if (hasMatch) expect(holds(positive, list)).toBe(true)
          if (hasMatch) expect(holds(negative, list)).toBe(false)
          if (holds(negative, list)) expect(hasMatch).toBe(false)
        },
      ),
      { numRuns: runs(5000) },
    )
  })
})

describe('The table of operators', () => {
  it('Every negative operator has a positive form', () => {
    const negative = [...operators].filter(([, { wants }]) => wants !== 'match')
    expect(negative.map(([name]) => name).sort()).toEqual(NEGATIVES.map(([, name]) => name).sort())
  })

  it('Both forms of an operator have the same subject and comparison', () => {
    for (const [positive, negative] of NEGATIVES) {
      expect(operators.get(positive)?.subject).toBe(operators.get(negative)?.subject)
      const expects = operators.get(positive)?.comparison.expects
      expect(operators.get(negative)?.comparison.expects).toBe(expects)
    }
  })
})
