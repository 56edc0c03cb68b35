import { containsAll, containsNone, element, size } from './array-comparison.ts'
import { bucketing } from './bucket-comparison.ts'
import {
  type Comparison,
  existence,
  greater,
  greaterOrEqual,
  less,
  lessOrEqual,
  ordered,
  range,
  remainder,
  temporal,
  type,
  versioned,
  versionMembership,
} from './comparison.ts'
import { equality, membership } from './equality-comparison.ts'
import { network } from './network-comparison.ts'
import { pattern } from './pattern-comparison.ts'
import { compareSemver, type Semver } from './semver.ts'
import { asWritten, inLowerCase, textMembership, textual } from './text-comparison.ts'
import { searchAnywhere, searchEnd, searchStart } from './text-search.ts'

/** The definition of an operator: its subject, its comparison and the result that it requires. */
export interface OperatorMeaning {
  /**
   * The tested value. `attribute`: the attribute of the context. `key`: the attribute, read like
   * the bucketing key of a rollout. `flag`: the key of the variation that the flag named by
   * `attribute` serves. `segment`: each of the segments that the value lists.
   */
  readonly subject: 'attribute' | 'key' | 'flag' | 'segment'
  readonly comparison: Comparison
  readonly wants: Wanted
}

/**
 * The required result. `no-match` requires a value of the right type that does not match.
 * `anything-but-match` also accepts a missing value and a value of another type.
 */
export type Wanted = 'match' | 'no-match' | 'anything-but-match'

const meaning = (
  subject: OperatorMeaning['subject'],
  comparison: Comparison,
  wants: Wanted,
): OperatorMeaning => ({ subject, comparison, wants })
const is = (comparison: Comparison) => meaning('attribute', comparison, 'match')
const isNot = (comparison: Comparison) => meaning('attribute', comparison, 'no-match')

const isSameMajor = (a: Semver, b: Semver) => a.major === b.major
const isSameMinor = (a: Semver, b: Semver) => isSameMajor(a, b) && a.minor === b.minor

/** The table of all operators. */
const TABLE = [
  ['exists', is(existence)],
  ['not_exists', meaning('attribute', existence, 'anything-but-match')],

  ['eq', is(equality(asWritten))],
  ['neq', isNot(equality(asWritten))],
  ['eq_ci', is(equality(inLowerCase))],
  ['in', is(membership(asWritten))],
  ['not_in', isNot(membership(asWritten))],
  ['in_ci', is(membership(inLowerCase))],
  ['not_in_ci', isNot(membership(inLowerCase))],

  ['contains', is(textual(searchAnywhere, asWritten))],
  ['not_contains', isNot(textual(searchAnywhere, asWritten))],
  ['contains_ci', is(textual(searchAnywhere, inLowerCase))],
  ['not_contains_ci', isNot(textual(searchAnywhere, inLowerCase))],
  ['starts_with', is(textual(searchStart, asWritten))],
  ['not_starts_with', isNot(textual(searchStart, asWritten))],
  ['starts_with_ci', is(textual(searchStart, inLowerCase))],
  ['not_starts_with_ci', isNot(textual(searchStart, inLowerCase))],
  ['ends_with', is(textual(searchEnd, asWritten))],
  ['not_ends_with', isNot(textual(searchEnd, asWritten))],
  ['ends_with_ci', is(textual(searchEnd, inLowerCase))],
  ['not_ends_with_ci', isNot(textual(searchEnd, inLowerCase))],

  ['matches', is(pattern({ ignoreCase: false }))],
  ['not_matches', isNot(pattern({ ignoreCase: false }))],
  ['matches_ci', is(pattern({ ignoreCase: true }))],

  ['str_gt', is(ordered((order) => order > 0))],
  ['str_gte', is(ordered((order) => order >= 0))],
  ['str_lt', is(ordered((order) => order < 0))],
  ['str_lte', is(ordered((order) => order <= 0))],

  ['gt', is(greater)],
  ['gte', is(greaterOrEqual)],
  ['lt', is(less)],
  ['lte', is(lessOrEqual)],
  ['between', is(range)],
  ['modulo', is(remainder)],

  ['before', is(temporal((attribute, value) => attribute < value))],
  ['after', is(temporal((attribute, value) => attribute > value))],

  ['semver_eq', is(versioned((a, b) => compareSemver(a, b) === 0))],
  ['semver_gt', is(versioned((a, b) => compareSemver(a, b) > 0))],
  ['semver_gte', is(versioned((a, b) => compareSemver(a, b) >= 0))],
  ['semver_lt', is(versioned((a, b) => compareSemver(a, b) < 0))],
  ['semver_lte', is(versioned((a, b) => compareSemver(a, b) <= 0))],
  ['semver_in', is(versionMembership)],
  ['not_semver_in', isNot(versionMembership)],
  ['semver_major_eq', is(versioned(isSameMajor))],
  ['semver_minor_eq', is(versioned(isSameMinor))],

  ['in_cidr', is(network)],
  ['not_in_cidr', isNot(network)],

  ['array_contains_all', is(containsAll)],
  ['array_contains_none', is(containsNone)],
  ['array_size', is(size)],
  ['elem_match', is(element)],

  ['is_type', is(type)],
  ['in_bucket', meaning('key', bucketing, 'match')],

  ['in_segment', meaning('segment', textMembership, 'match')],
  ['not_in_segment', meaning('segment', textMembership, 'no-match')],
  ['flag_is', meaning('flag', textMembership, 'match')],
  ['flag_is_not', meaning('flag', textMembership, 'no-match')],
] as const satisfies readonly (readonly [string, OperatorMeaning])[]

/** The name of an operator, as used in conditions. */
export type Operator = (typeof TABLE)[number][0]

/** All operators by name. */
export const operators: ReadonlyMap<Operator, OperatorMeaning> = new Map(TABLE)

/** Returns `true` if there is an operator with this name. */
export function isOperator(name: string): name is Operator {
  return operators.has(name as Operator)
}
