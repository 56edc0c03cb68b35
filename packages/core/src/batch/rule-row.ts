import type { CompiledTarget } from '../evaluation/flag.ts'
import type { ConditionDefinition } from '../model/definition.ts'
import type { CompiledCondition } from '../operators/condition.ts'
import { type ListSearch, listSearchOf, type SearchKind } from '../operators/list-search.ts'
import { type Scale, type ScaleRange, type ScaleTest, scaleTestOf } from '../operators/scale.ts'
import { isStringSetCondition, stringsOf } from '../operators/string-set-condition.ts'
import { holdsAfter } from '../operators/value-reader.ts'
import { attributeSource, contextKeySource, type ValueSource } from './value-source.ts'

/** Requirements that must all be met: tests, conditions and segments. */
export interface RuleRow {
  /** The conditions and targets that the index evaluates. */
  readonly tests: readonly ValueTest[]
  /** The conditions that are evaluated separately. */
  readonly conditions: readonly CompiledCondition[]
  /** The ids of the segments that must match. */
  readonly segmentIds: readonly string[]
}

/**
 * A test of a value with one result for certain values, the *listed* ones, and the opposite result
 * for all others of the same type.
 */
export interface ValueTest {
  readonly source: ValueSource
  /** The scale of the value. `undefined` if texts are listed. */
  readonly scale: Scale | undefined
  /**
   * The kind of the search for the listed texts. `undefined` if the value is compared with them.
   */
  readonly search: SearchKind | undefined
  /** The listed texts. Empty if there is a scale. */
  readonly texts: readonly string[]
  /** The ranges of the listed positions. Empty if there is no scale. */
  readonly ranges: readonly ScaleRange[]
  /** The result for values that are not listed. */
  readonly isForOthers: boolean
  /** The result for a missing value, and for one of another type. */
  readonly isForMissing: boolean
  /** The condition, which is evaluated for arrays and objects. Targets have none. */
  readonly condition: CompiledCondition | undefined
}

/**
 * The maximum length of the value of a condition in an index of searches, in UTF-16 units. Longer
 * lists are searched separately.
 */
const MAX_SEARCHED = 256

/** Returns the row of a target, which matches if the target contains the key of the context. */
export function targetRow({ kind, keys }: CompiledTarget): RuleRow {
  const test = {
    source: contextKeySource(kind),
    scale: undefined,
    search: undefined,
    // Callers without type checks can list numbers, which match no key.
    texts: [...keys].filter((key) => typeof key === 'string'),
    ranges: [],
    isForOthers: false,
    isForMissing: false,
    condition: undefined,
  }
  return { tests: [test], conditions: [], segmentIds: [] }
}

/**
 * Returns the row of conditions and, optionally, a segment. `definitions` are the definitions of
 * the conditions. Returns `undefined` if a condition is invalid, so that the row never matches.
 */
export function conditionsRow(
  conditions: readonly CompiledCondition[],
  definitions: readonly ConditionDefinition[],
  segmentId: string | null,
): RuleRow | undefined {
  if (conditions.some(({ test }) => test === undefined)) return undefined
  const tests: ValueTest[] = []
  const others: CompiledCondition[] = []
  const segmentIds = segmentId === null ? [] : [segmentId]
  for (const [index, condition] of conditions.entries()) {
    const definition = definitions[index]
    const test = definition && valueTestOf(condition, definition)
    const [onlySegment, ...otherSegments] = condition.segmentIds
    const requiresSegment = condition.wants === 'match' && !condition.isNegated
    if (test !== undefined) tests.push(test)
    else if (onlySegment !== undefined && otherSegments.length === 0 && requiresSegment)
      segmentIds.push(onlySegment)
    else others.push(condition)
  }
  return { tests, conditions: others, segmentIds }
}

/** Returns the source of the value that a condition reads, or `undefined` if it reads none. */
export function sourceOf({ reference, isKey }: CompiledCondition): ValueSource | undefined {
  return reference && attributeSource(reference, isKey)
}

/** Returns a condition as a test, or `undefined` if no index represents it. */
function valueTestOf(
  condition: CompiledCondition,
  definition: ConditionDefinition,
): ValueTest | undefined {
  const listed = listedBy(definition)
  const source = sourceOf(condition)
  if (listed === undefined || source === undefined) return undefined
  const { scale, kind: search, texts = [], ranges = [], isTrueForOthers = false } = listed
  const isForOthers = holdsAfter(condition, isTrueForOthers)
  const isForMissing = holdsAfter(condition, undefined)
  return { source, scale, search, texts, ranges, isForOthers, isForMissing, condition }
}

/** What a condition lists, and the result of its test for all other values. */
type Listed = Partial<ScaleTest & ListSearch>

function listedBy(definition: ConditionDefinition): Listed | undefined {
  const { operator, value } = definition
  if (operator === 'exists' || operator === 'not_exists') return { isTrueForOthers: true }
  if (isStringSetCondition(definition)) return { texts: stringsOf(definition) }
  const scaled = scaleTestOf(operator, value)
  return scaled ?? (value.length > MAX_SEARCHED ? undefined : listSearchOf(operator, value))
}
