import type { ConditionDefinition } from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import { clip, quote } from '../model/quote.ts'
import { MAX_ELEMENT_CONDITIONS } from '../operators/array-comparison.ts'
import { type Expectation, TYPES } from '../operators/comparison.ts'
import { compileCondition } from '../operators/condition.ts'
import { MAX_PATTERN_LENGTH } from '../operators/pattern-comparison.ts'
import { isWellFormed, meaningOf } from '../operators/value-reader.ts'
import { BUCKETS } from '../rollouts/bucket.ts'

const EXPECTED: Readonly<Record<Expectation, string>> = {
  conditions: `a JSON array of at most ${MAX_ELEMENT_CONDITIONS} conditions on attributes of an element`,
  timestamp: 'an RFC 3339 date with time and zone, or epoch milliseconds',
  list: 'text or a JSON array without null',
  network: 'an IP address or a network in CIDR notation, or a JSON array of them',
  number: 'a decimal number',
  pattern: `a regular expression of RE2, at most ${MAX_PATTERN_LENGTH} characters and not too large`,
  range: 'a JSON array of two numbers, the lower one first',
  remainder: 'a divisor other than 0 and a remainder, such as 10|3',
  share:
    'a JSON object of a salt and ranges, ascending and disjoint, and optionally a scheme and a ' +
    `totalWeight, a whole number from 1 to ${BUCKETS}, such as {"salt": "s", "ranges": [[0, 5000]]}`,
  size: 'a number, or a JSON object such as {"op": "gte", "value": 2}',
  text: 'text',
  texts: 'text or a JSON array of texts',
  types: `one of ${Object.keys(TYPES).join(', ')}, or a JSON array of them`,
  version: 'a semantic version',
  versions: 'a semantic version or a JSON array of them',
}

/** Why a condition must be refused when it is written, as a sentence; undefined: it is fine. */
export function conditionFault(
  definition: ConditionDefinition,
  extensions: Extensions = {},
): string | undefined {
  const { test, missing } = compileCondition(definition, extensions)
  if (test !== undefined) return undefined
  if (!isWellFormed(definition)) {
    return 'A condition has an attribute, an operator and a value, all text.'
  }
  const name = quote(definition.operator)
  const meaning = meaningOf(definition)
  if (meaning === undefined) return `There is no operator ${name}.`
  if (missing.length === 0) {
    return `The value of ${name} must be ${EXPECTED[meaning.comparison.expects]}.`
  }
  return `${name} needs the ${missing.map(clip).join(' and the ')}, which was not handed to the engine.`
}
