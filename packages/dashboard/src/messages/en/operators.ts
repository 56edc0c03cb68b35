import type { Sentence } from '../phrases/fragment.ts'
import { phrase } from '../phrases/fragment.ts'

/** The words of a condition: of the attribute, and of the value in words. */
type ConditionWords = (attribute: Sentence, value: Sentence) => Sentence

/** The words of an operator: as it is, and negated. */
type OperatorWords = readonly [ConditionWords, ConditionWords]

const IGNORING_CASE = 'ignoring case'
const OR_MISSING = 'or is not set'
const BUT_PRESENT = 'but is set'

const alone =
  (words: string): ConditionWords =>
  (attribute) =>
    phrase`${attribute} ${words}`

/** Returns words between an attribute and a value. The notes follow the value. */
const between =
  (words: string, notes: readonly string[] = []): ConditionWords =>
  (attribute, value) =>
    phrase`${attribute} ${words} ${value}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`

/** Returns the words of an operator that requires a match. Its negation accepts a missing value. */
function match(words: string, negated: string, ...notes: readonly string[]): OperatorWords {
  return [between(words, notes), between(negated, [...notes, OR_MISSING])]
}

/** Returns the words of an operator that requires a value that does not match. */
function noMatch(words: string, negated: string, ...notes: readonly string[]): OperatorWords {
  return [between(negated, [...notes, BUT_PRESENT]), between(words, [...notes, OR_MISSING])]
}

/** Returns the words of an operator whose value is segments. The attribute is not used. */
function segment(words: string, negated: string): OperatorWords {
  return [(_, value) => phrase`${words} ${value}`, (_, value) => phrase`${negated} ${value}`]
}

function flag(words: string, note = ''): ConditionWords {
  return (attribute, value) => phrase`flag ${attribute} ${words} ${value}${note}`
}

const IS = ['is', 'is not'] as const
const IN = ['is one of', 'is none of'] as const
const CONTAINS = ['contains', 'does not contain'] as const
const STARTS = ['starts with', 'does not start with'] as const
const ENDS = ['ends with', 'does not end with'] as const
const MATCHES = ['matches the pattern', 'does not match the pattern'] as const
const VERSIONS = ['is one of the versions', 'is none of the versions'] as const
const NETWORKS = ['is in the network', 'is not in the network'] as const

/** The words of a condition by operator: as it is, and negated. */
export const operatorWords: ReadonlyMap<string, OperatorWords> = new Map([
  ['exists', [alone('is set'), alone('is not set')]],
  ['not_exists', [alone('is not set'), alone('is set')]],
  ['eq', match(...IS)],
  ['neq', noMatch(...IS)],
  ['eq_ci', match(...IS, IGNORING_CASE)],
  ['in', match(...IN)],
  ['not_in', noMatch(...IN)],
  ['in_ci', match(...IN, IGNORING_CASE)],
  ['not_in_ci', noMatch(...IN, IGNORING_CASE)],
  ['contains', match(...CONTAINS)],
  ['not_contains', noMatch(...CONTAINS)],
  ['contains_ci', match(...CONTAINS, IGNORING_CASE)],
  ['not_contains_ci', noMatch(...CONTAINS, IGNORING_CASE)],
  ['starts_with', match(...STARTS)],
  ['not_starts_with', noMatch(...STARTS)],
  ['starts_with_ci', match(...STARTS, IGNORING_CASE)],
  ['not_starts_with_ci', noMatch(...STARTS, IGNORING_CASE)],
  ['ends_with', match(...ENDS)],
  ['not_ends_with', noMatch(...ENDS)],
  ['ends_with_ci', match(...ENDS, IGNORING_CASE)],
  ['not_ends_with_ci', noMatch(...ENDS, IGNORING_CASE)],
  ['matches', match(...MATCHES)],
  ['not_matches', noMatch(...MATCHES)],
  ['matches_ci', match(...MATCHES, IGNORING_CASE)],
  ['str_gt', match('comes after the text', 'does not come after the text')],
  ['str_gte', match('is or comes after the text', 'neither is nor comes after the text')],
  ['str_lt', match('comes before the text', 'does not come before the text')],
  ['str_lte', match('is or comes before the text', 'neither is nor comes before the text')],
  ['gt', match('is greater than', 'is not greater than')],
  ['gte', match('is at least', 'is not at least')],
  ['lt', match('is less than', 'is not less than')],
  ['lte', match('is at most', 'is not at most')],
  ['between', match('is between', 'is not between')],
  ['modulo', match('has the remainder', 'does not have the remainder')],
  ['before', match('is before', 'is not before')],
  ['after', match('is after', 'is not after')],
  ['semver_eq', match('is the version', 'is not the version')],
  ['semver_gt', match('is a later version than', 'is not a later version than')],
  ['semver_gte', match('is at least the version', 'is not at least the version')],
  ['semver_lt', match('is an earlier version than', 'is not an earlier version than')],
  ['semver_lte', match('is at most the version', 'is not at most the version')],
  ['semver_in', match(...VERSIONS)],
  ['not_semver_in', noMatch(...VERSIONS)],
  ['semver_major_eq', match('has the major version of', 'does not have the major version of')],
  [
    'semver_minor_eq',
    match('has the major and minor version of', 'does not have the major and minor version of'),
  ],
  ['in_cidr', match(...NETWORKS)],
  ['not_in_cidr', noMatch(...NETWORKS)],
  ['array_contains_all', match('contains all of', 'does not contain all of')],
  ['array_contains_none', match('contains none of', 'contains one of')],
  ['array_size', match('has the number of elements', 'does not have the number of elements')],
  ['elem_match', match('has an element that matches', 'has no element that matches')],
  ['is_type', match('has the type', 'does not have the type')],
  ['in_bucket', match('is in the buckets', 'is not in the buckets')],
  ['in_segment', segment('in segment', 'not in segment')],
  ['not_in_segment', segment('not in segment', 'in segment')],
  ['flag_is', [flag('serves'), flag('does not serve', ' (or is missing)')]],
  ['flag_is_not', [flag('does not serve', ' (but exists)'), flag('serves', ' (or is missing)')]],
])

/** Returns the words of a condition with an operator that is not known. */
export const unknownOperator =
  (operator: string): ConditionWords =>
  (attribute, value) =>
    phrase`${attribute} ${operator} ${value}`
