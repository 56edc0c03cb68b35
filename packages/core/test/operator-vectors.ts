import type { ConditionDefinition, FlagDefinition, JsonValue } from '../src/index.ts'
import type { Operator } from '../src/operators/operator.ts'
import type { VectorFile } from './vector-files.ts'

/** An attribute and the expected result of the condition. */
type Answer = readonly [attribute: JsonValue, holds: boolean]

interface OperatorRow {
  readonly operator: Operator
  readonly value: string
  /** An attribute that matches. */
  readonly match: JsonValue
  /** An attribute of the right type that does not match. */
  readonly noMatch: JsonValue
  readonly wrongType: Answer
  readonly array: Answer
  readonly emptyArray: boolean
  /** The result if the value is an empty list. `undefined` if the value cannot be a list. */
  readonly emptyList?: 'never' | 'when readable'
}

/** Returns a row. The expected results are written by hand, only the rest is generated. */
function row(
  operator: Operator,
  value: string,
  cases: Omit<OperatorRow, 'operator' | 'value'>,
): OperatorRow {
  return { operator, value, ...cases }
}

const TEXT = { wrongType: [42, false], emptyArray: false } as const
const NOT_TEXT = { wrongType: [42, false], emptyArray: true } as const
const NUMBER = { wrongType: ['many', false], emptyArray: false } as const
const VERSION = { wrongType: [2, false], emptyArray: false } as const
const ONLY_ARRAY = { wrongType: ['a', false] } as const
const NONE = { emptyList: 'never' } as const
const NOT_IN_NONE = { emptyList: 'when readable' } as const

// biome-ignore format: one operator, one line
const ROWS: readonly OperatorRow[] = [
  row('exists', '', { match: '', noMatch: null, wrongType: [{}, true], array: [[null], true], emptyArray: true }),
  row('not_exists', '', { match: null, noMatch: 0, wrongType: [{}, false], array: [[null], false], emptyArray: false }),

  row('eq', 'pro', { match: 'pro', noMatch: 'Pro', wrongType: [{ plan: 'pro' }, false], array: [['free', 'pro'], true], emptyArray: false }),
  row('neq', 'pro', { match: 'Pro', noMatch: 'pro', wrongType: [{ plan: 'pro' }, true], array: [['free', 'pro'], false], emptyArray: true }),
  row('eq_ci', 'ÄRA', { match: 'Ära', noMatch: 'ara', wrongType: [{ it: 'ära' }, false], array: [['x', 'ära'], true], emptyArray: false }),
  row('in', '["pro", 7]', { match: 7, noMatch: 'free', wrongType: [{}, false], array: [['x', '7'], true], emptyArray: false, ...NONE }),
  row('not_in', '["pro", 7]', { match: 'free', noMatch: '7', wrongType: [{}, true], array: [['x', '7'], false], emptyArray: true, ...NOT_IN_NONE }),
  row('in_ci', '["PRO", "Team"]', { match: 'team', noMatch: 'free', wrongType: [{}, false], array: [['x', 'Pro'], true], emptyArray: false, ...NONE }),
  row('not_in_ci', '["PRO", "Team"]', { match: 'free', noMatch: 'team', wrongType: [{}, true], array: [['x', 'Pro'], false], emptyArray: true, ...NOT_IN_NONE }),

  row('contains', '["@a.", "@b."]', { match: 'x@b.org', noMatch: 'x@B.org', ...TEXT, array: [[1, 'x@a.org'], true], ...NONE }),
  row('not_contains', '["@a.", "@b."]', { match: 'x@B.org', noMatch: 'x@b.org', ...NOT_TEXT, array: [[1, 'x@a.org'], false], ...NOT_IN_NONE }),
  row('contains_ci', '@B.', { match: 'x@b.org', noMatch: 'x@c.org', ...TEXT, array: [['X@B.ORG'], true], ...NONE }),
  row('not_contains_ci', '@B.', { match: 'x@c.org', noMatch: 'x@b.org', ...NOT_TEXT, array: [['X@B.ORG'], false], ...NOT_IN_NONE }),
  row('starts_with', '["+49", "+43"]', { match: '+4989', noMatch: '0049', ...TEXT, array: [['0049', '+43'], true], ...NONE }),
  row('not_starts_with', '["+49", "+43"]', { match: '0049', noMatch: '+4989', ...NOT_TEXT, array: [['0049', '+43'], false], ...NOT_IN_NONE }),
  row('starts_with_ci', 'Dr', { match: 'dr. No', noMatch: 'Mr. Dr', ...TEXT, array: [['No', 'DR'], true], ...NONE }),
  row('not_starts_with_ci', 'Dr', { match: 'Mr. Dr', noMatch: 'dr. No', ...NOT_TEXT, array: [['No', 'DR'], false], ...NOT_IN_NONE }),
  row('ends_with', '[".org", ".net"]', { match: 'a.net', noMatch: 'a.NET', ...TEXT, array: [['a.com', 'a.org'], true], ...NONE }),
  row('not_ends_with', '[".org", ".net"]', { match: 'a.NET', noMatch: 'a.net', ...NOT_TEXT, array: [['a.com', 'a.org'], false], ...NOT_IN_NONE }),
  row('ends_with_ci', '.Org', { match: 'A.ORG', noMatch: 'a.org.uk', ...TEXT, array: [['a', 'a.oRg'], true], ...NONE }),
  row('not_ends_with_ci', '.Org', { match: 'a.org.uk', noMatch: 'A.ORG', ...NOT_TEXT, array: [['a', 'a.oRg'], false], ...NOT_IN_NONE }),

  row('matches', '^[a-c]+\\d$', { match: 'abc1', noMatch: 'ABC1', ...TEXT, array: [['x', 'a1'], true] }),
  row('not_matches', '^[a-c]+\\d$', { match: 'ABC1', noMatch: 'abc1', ...NOT_TEXT, array: [['x', 'a1'], false] }),
  row('matches_ci', 'é[a-c]', { match: 'caFÉB', noMatch: 'cafeb', ...TEXT, array: [['x', 'éC'], true] }),
  row('str_gt', 'b', { match: 'ba', noMatch: 'b', ...TEXT, array: [['a', 'c'], true] }),
  row('str_gte', 'b', { match: 'b', noMatch: 'aé', ...TEXT, array: [['a', 'B'], false] }),
  row('str_lt', '\u{1f600}', { match: '\uffff', noMatch: '\u{1f601}', ...TEXT, array: [['\u{1f601}', 'a'], true] }),
  row('str_lte', 'b', { match: 'b', noMatch: 'ba', ...TEXT, array: [['c', 'd'], false] }),

  row('gt', '4', { match: ' 5 ', noMatch: 4, ...NUMBER, array: [[1, '5'], true] }),
  row('gte', '4', { match: '4.0', noMatch: 3.9, ...NUMBER, array: [[1, 4], true] }),
  row('lt', '4', { match: '-5e3', noMatch: 4, ...NUMBER, array: [[5, 'x'], false] }),
  row('lte', '4', { match: 4, noMatch: '4.1', ...NUMBER, array: [[5, 4], true] }),
  row('between', '[1, 3]', { match: '3', noMatch: 3.01, ...NUMBER, array: [[0, 2], true] }),
  row('modulo', '4|-1', { match: -5, noMatch: 5, ...NUMBER, array: [[4, '-9'], true] }),
  row('before', '2024-06-01T12:00:00Z', { match: '2024-06-01T13:59:59+02:00', noMatch: 1_717_243_200_000, wrongType: ['2024-06-01', false], array: [['2030-01-01T00:00:00Z', 0], true], emptyArray: false }),
  row('after', '1717243200000', { match: '2024-06-01T12:00:00.001Z', noMatch: '2024-06-01T12:00:00Z', wrongType: [true, false], array: [['x', 0], false], emptyArray: false }),

  row('semver_eq', 'v1.2', { match: '1.2.0+7', noMatch: '1.2.0-rc.1', ...VERSION, array: [['x', '1.2'], true] }),
  row('semver_gt', '1.2.0-rc.2', { match: '1.2.0-rc.11', noMatch: '1.2.0-rc.1', ...VERSION, array: [['1', '2'], true] }),
  row('semver_gte', '1.2', { match: 'V1.2.0', noMatch: '1.2.0-rc', ...VERSION, array: [['1', '1.1'], false] }),
  row('semver_lt', '1.10', { match: '1.9.9', noMatch: '1.10.0', ...VERSION, array: [['2', '1'], true] }),
  row('semver_lte', '1.10', { match: '1.10.0', noMatch: '1.10.1', ...VERSION, array: [['2', '1.10'], true] }),
  row('semver_in', '["1.0.0", "2.0.0"]', { match: 'v2', noMatch: '3', ...VERSION, array: [['3', '1'], true], ...NONE }),
  row('not_semver_in', '["1.0.0", "2.0.0"]', { match: '3', noMatch: 'v2', ...VERSION, array: [['3', '1'], false], emptyArray: true, ...NOT_IN_NONE }),
  row('semver_major_eq', '2', { match: '2.9.1-rc', noMatch: '3.0', ...VERSION, array: [['1', '2.1'], true] }),
  row('semver_minor_eq', '2.7', { match: '2.7.9', noMatch: '3.7', ...VERSION, array: [['2', '3'], false] }),

  row('in_cidr', '["10.0.0.0/8", "2001:db8::/32"]', { match: '::ffff:10.1.2.3', noMatch: '11.0.0.1', wrongType: ['10.0.0', false], array: [['1.1.1.1', '2001:DB8::1'], true], emptyArray: false, ...NONE }),
  row('not_in_cidr', '["10.0.0.0/8", "2001:db8::/32"]', { match: '11.0.0.1', noMatch: '10.255.255.255', wrongType: ['10.0.0.01', false], array: [['1.1.1.1', '2001:DB8::1'], false], emptyArray: true, ...NONE }),

  row('array_contains_all', '["a", 1]', { match: ['1', 'b', 'a'], noMatch: ['a', 'b'], ...ONLY_ARRAY, array: [[['a', 1]], false], emptyArray: false, ...NONE }),
  row('array_contains_none', '["a", 1]', { match: ['b', 2], noMatch: ['b', '1'], ...ONLY_ARRAY, array: [[['a', 1]], true], emptyArray: true, ...NOT_IN_NONE }),
  row('array_size', '{"op": "between", "value": [1, 2]}', { match: [null, 7], noMatch: ['a', 'b', 'c'], ...ONLY_ARRAY, array: [[['a', 'b', 'c']], true], emptyArray: false }),
  row('elem_match', '[{"attribute": "tags", "operator": "in", "value": ["x", "y"]}, {"attribute": "at.n", "operator": "gt", "value": 1}]', { match: [{ tags: ['y'], at: { n: 2 } }], noMatch: [{ tags: 'x' }, { at: { n: 2 } }], wrongType: [{ tags: 'x', at: { n: 2 } }, false], array: [[7, { tags: 'x', 'at.n': '1.5' }], true], emptyArray: false, ...NONE }),
  row('is_type', '["object", "semver"]', { match: '1.2', noMatch: 1.2, wrongType: [true, false], array: [['1.2', {}], false], emptyArray: false, ...NONE }),
  row('in_bucket', '{"salt": "checkout", "ranges": [[0, 100], [17502, 17503]]}', { match: 'user-1', noMatch: 'user-2', wrongType: [1.5, false], array: [['user-1'], false], emptyArray: false }),
]

/** The cases. In each of them, every operator has an attribute of its own name. */
const CASES = [
  ['match', ({ match }) => [match, true]],
  ['no match', ({ noMatch }) => [noMatch, false]],
  ['missing', ({ operator }) => [undefined, operator === 'not_exists']],
  ['null', ({ operator }) => [null, operator === 'not_exists']],
  ['wrong type', ({ wrongType }) => wrongType],
  ['array attribute', ({ array }) => array],
  ['empty array attribute', ({ emptyArray }) => [[], emptyArray]],
] as const satisfies readonly (readonly [
  string,
  (row: OperatorRow) => readonly [attribute: JsonValue | undefined, holds: boolean],
])[]

/**
 * Returns vectors of every operator on attributes, in all cases in which implementations can
 * differ.
 */
export function operatorVectors(): VectorFile {
  return {
    description:
      'A flag is true when its one condition holds, which is about the attribute named after its operator. "negated": the same with `negate`; "of nothing": with an empty list for its value.',
    flagSet: { version: 1, flags: ROWS.flatMap(conditionsOf).map(flagOf), segments: [] },
    cases: CASES.map(([name, answerOf]) => {
      const attributes = ROWS.map((each) => [each.operator, answerOf(each)[0]] as const)
      const answers = ROWS.flatMap((each) => answersOf(each, name, answerOf(each)[1]))
      return {
        name,
        context: { kind: 'user', ...Object.fromEntries(attributes) },
        expect: Object.fromEntries(answers),
      }
    }),
  }
}

/** The names of the operators that have rows. */
export const OPERATORS_WITH_VECTORS: readonly Operator[] = ROWS.map(({ operator }) => operator)

type Question = readonly [flagKey: string, condition: ConditionDefinition]

function conditionsOf({ operator, value, emptyList }: OperatorRow): readonly Question[] {
  const condition = { attribute: operator, operator, value }
  return [
    [operator, condition],
    [`${operator} negated`, { ...condition, negate: true }],
    ...(emptyList === undefined
      ? []
      : [[`${operator} of nothing`, { ...condition, value: '[]' }] as const]),
  ]
}

function answersOf(
  { operator, wrongType, emptyList }: OperatorRow,
  name: (typeof CASES)[number][0],
  holds: boolean,
): readonly (readonly [flagKey: string, holds: boolean])[] {
  const isReadable = !['missing', 'null'].includes(name) && (name !== 'wrong type' || wrongType[1])
  return [
    [operator, holds],
    [`${operator} negated`, !holds],
    ...(emptyList === undefined
      ? []
      : [[`${operator} of nothing`, emptyList === 'when readable' && isReadable] as const]),
  ]
}

/** Returns a boolean flag with one rule of one condition. */
export function flagOf([key, condition]: Question, index: number): FlagDefinition {
  const id = (part: number) =>
    `0000000${part}-0000-4000-8000-${String(9000 + index).padStart(12, '0')}`
  return {
    id: id(1),
    key,
    type: 'boolean',
    isActive: true,
    variations: [
      { id: id(2), key: 'on', value: 'true' },
      { id: id(3), key: 'off', value: 'false' },
    ],
    defaultVariationId: id(3),
    offVariationId: null,
    targets: [],
    prerequisites: [],
    rules: [
      {
        id: id(4),
        orderIndex: 0,
        createdAt: '2024-01-01T00:00:00.000Z',
        conditions: [condition],
        segmentId: null,
        variationId: id(2),
        rolloutId: null,
      },
    ],
    rollouts: [],
  }
}

/**
 * Returns the text of a vector file, with one line for each flag and case. Characters beyond ASCII
 * are escaped, because UTF-8 cannot encode lone surrogates.
 */
export function vectorText({ description, flagSet, cases }: VectorFile): string {
  const { version, flags, segments } = flagSet
  const lines = (all: readonly unknown[]) => all.map((each) => JSON.stringify(each)).join(',\n    ')
  const segmentLines = segments.length === 0 ? '' : `\n    ${lines(segments)}\n  `
  const text = `{
  "description": ${JSON.stringify(description)},
  "flagSet": {"version": ${version}, "segments": [${segmentLines}], "flags": [
    ${lines(flags)}
  ]},
  "cases": [
    ${lines(cases)}
  ]
}
`
  return text.replace(
    /[^\n\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
