import type { ConditionDefinition } from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import { clip, quote } from '../model/quote.ts'
import { MAX_ELEMENT_CONDITIONS } from '../operators/array-comparison.ts'
import { type Expectation, TYPES } from '../operators/comparison.ts'
import { compileCondition } from '../operators/condition.ts'
import { MAX_PATTERN_LENGTH } from '../operators/pattern-comparison.ts'
import { isWellFormed, meaningOf } from '../operators/value-reader.ts'
import { BUCKETS } from '../rollouts/bucket.ts'
import { unknownOperator } from './operator-suggestion.ts'

const EXPECTED: Readonly<Record<Expectation, string>> = {
  conditions: `a JSON array of at most ${MAX_ELEMENT_CONDITIONS} conditions on attributes of an element`,
  timestamp: 'an RFC 3339 timestamp with a time zone, or epoch milliseconds',
  list: 'text or a JSON array without null',
  network: 'an IP address or a network in CIDR notation, or a JSON array of them',
  number: 'a decimal number',
  pattern: `a valid RE2 regular expression of at most ${MAX_PATTERN_LENGTH} characters, and not too complex`,
  range: 'a JSON array of two numbers, the lower one first',
  remainder: 'a divisor other than 0 and a remainder, such as 10|3',
  share:
    'a JSON object with a salt, ranges in ascending order without overlaps, and optionally a scheme ' +
    `and a totalWeight (an integer from 1 to ${BUCKETS}), such as {"salt": "s", "ranges": [[0, 5000]]}`,
  size: 'a number, or a JSON object such as {"op": "gte", "value": 2}',
  text: 'text',
  texts: 'text or a JSON array of texts',
  types: `one of ${Object.keys(TYPES).join(', ')}, or a JSON array of them`,
  version: 'a semantic version',
  versions: 'a semantic version or a JSON array of them',
}

/**
 * Returns a sentence that describes why a condition is invalid, or `undefined` if it is valid. An
 * invalid condition never matches.
 */
export function conditionFault(
  definition: ConditionDefinition,
  extensions: Extensions = {},
): string | undefined {
  const { test, missing } = compileCondition(definition, extensions)
  if (test !== undefined) return undefined
  if (!isWellFormed(definition)) {
    return 'The attribute, the operator and the value of a condition must be strings.'
  }
  const meaning = meaningOf(definition)
  if (meaning === undefined) return unknownOperator(definition.operator)
  const name = quote(definition.operator)
  if (missing.length === 0) {
    return `The value of ${name} must be ${EXPECTED[meaning.comparison.expects]}.`
  }
  return `${name} requires the ${missing.map(clip).join(' and the ')}, which is not available.`
}
