import {
  type AttributeReference,
  compileReference,
  readAttribute,
  readBucketingKey,
} from '../model/attribute.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { ConditionDefinition } from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import type { JsonValue } from '../model/json.ts'
import { parseTexts, type Test, type TestResult } from './comparison.ts'
import type { Wanted } from './operator.ts'
import { isStringSetCondition, StringSetCondition } from './string-set-condition.ts'
import {
  holdsAfter,
  isWellFormed,
  LaterReader,
  meaningOf,
  testFound,
  ValueReader,
} from './value-reader.ts'

/** What a condition may read: the context, and the segments and flags for it. */
export interface ConditionScope {
  readonly context: EvaluationContext
  /** False for a segment that does not exist. */
  isInSegment(segmentId: string): boolean
  /** The key of the variation that the flag serves to this context; undefined: unknown flag or nothing served. */
  servedVariation(flagKey: string): string | undefined
}

/** A condition whose value has been read. Made by `compileCondition`. */
export interface CompiledCondition {
  /** The segments that it reads; empty unless the operator is about segments. */
  readonly segmentIds: readonly string[]
  /** The flag that it reads; `undefined` unless the operator is about flags. */
  readonly flagKey: string | undefined
  /** Where its attribute is found; undefined unless the operator is about attributes. */
  readonly reference: AttributeReference | undefined
  /** The attribute is read as the key of a rollout would be. */
  readonly isKey: boolean
  /** Undefined: the condition cannot be read, and never holds. */
  readonly test: Test | undefined
  readonly wants: Wanted
  readonly isNegated: boolean
  /**
   * Evaluates the condition for text; `undefined` if that takes the test. Most conditions compare
   * text with a set of strings, and most attributes are text.
   */
  readonly stringSet: StringSetCondition | undefined
  /** What reads a long value when the test first needs it; undefined: it has been read. */
  readonly later: Pick<LaterReader, 'prepare'> | undefined
  /** The extensions that it needs and that are missing; without them it has no result. */
  readonly missing: readonly string[]
}

const NONE: readonly string[] = []

const UNREADABLE = {
  segmentIds: NONE,
  flagKey: undefined,
  reference: undefined,
  isKey: false,
  test: undefined,
  wants: 'match',
  isNegated: false,
  stringSet: undefined,
  later: undefined,
} as const

/**
 * Reads a condition once, so that evaluating it is fast. Never throws: one with an unknown operator
 * or an unreadable value becomes a condition that never holds, negated or not.
 */
export function compileCondition(
  definition: ConditionDefinition,
  extensions: Extensions = {},
): CompiledCondition {
  const meaning = meaningOf(definition)
  const reader = new ValueReader(extensions)
  const test = meaning && reader.read(definition, meaning)
  if (meaning === undefined || test === undefined) return { ...UNREADABLE, missing: reader.missing }
  const { attribute, value, negate } = definition
  const { subject, wants } = meaning
  const isOnAttribute = subject === 'attribute' || subject === 'key'
  const later = value.length > LONG_VALUE ? new LaterReader(definition, extensions) : undefined
  return {
    segmentIds: segmentIdsOf(definition),
    flagKey: subject === 'flag' ? attribute : undefined,
    reference: isOnAttribute ? compileReference(attribute) : undefined,
    isKey: subject === 'key',
    test: later === undefined ? test : (found) => later.test(found),
    wants,
    isNegated: negate === true,
    stringSet: isStringSetCondition(definition)
      ? new StringSetCondition(definition, (wants === 'match') !== (negate === true))
      : undefined,
    later,
    missing: NONE,
  }
}

/** The ids of the segments that a condition refers to; none if its value cannot be read. */
export function segmentIdsOf(definition: ConditionDefinition): readonly string[] {
  if (meaningOf(definition)?.subject !== 'segment') return NONE
  return parseTexts(definition.value) ?? NONE
}

/** A reference of a condition to a flag. */
export interface FlagReference {
  readonly flagKey: string
  /** None if the value of the condition cannot be read. */
  readonly variationKeys: readonly string[]
}

/** The flag that a condition refers to; `undefined` if it refers to none. */
export function flagReferenceOf(definition: ConditionDefinition): FlagReference | undefined {
  if (meaningOf(definition)?.subject !== 'flag') return undefined
  return { flagKey: definition.attribute, variationKeys: parseTexts(definition.value) ?? NONE }
}

/** What is read of longer values is kept only once it is needed: most answers come from an index. */
const LONG_VALUE = 64

/** Compiles conditions; equal ones, of which large flag sets have many, only once. */
export function sharedConditions(
  extensions: Extensions,
): (definition: ConditionDefinition) => CompiledCondition {
  const known = new Map<string, CompiledCondition>()
  return (definition) => {
    const name = isWellFormed(definition) ? nameOf(definition) : ''
    const shared = known.get(name)
    if (shared !== undefined) return shared
    const condition = compileCondition(definition, extensions)
    if (name !== '') known.set(name, condition)
    return condition
  }
}

/** Different for conditions that mean something different: the lengths say where each text ends. */
function nameOf({ attribute, operator, value, negate }: ConditionDefinition): string {
  return `${attribute.length} ${operator.length} ${negate === true} ${operator}${attribute}${value}`
}

/** Whether the condition holds for the context. Never throws. */
export function matchesCondition(condition: CompiledCondition, scope: ConditionScope): boolean {
  const { test, stringSet, reference } = condition
  if (test === undefined) return false
  if (stringSet === undefined || reference === undefined) {
    return holdsAfter(condition, testResultOf(condition, test, scope))
  }
  const value = readAttribute(scope.context, reference)
  return typeof value === 'string' ? stringSet.holdsFor(value) : holdsFor(condition, value)
}

/** Whether a condition on an attribute holds for its value; undefined: it is missing. */
export function holdsFor(condition: CompiledCondition, value: JsonValue | undefined): boolean {
  const { test } = condition
  return test !== undefined && holdsAfter(condition, testFound(test, value))
}

/** Whether every condition holds; true for an empty list. */
export function matchesAll(
  conditions: readonly CompiledCondition[],
  scope: ConditionScope,
): boolean {
  // Loops, because functions made for each question would be garbage.
  for (let at = 0; at < conditions.length; at += 1) {
    const condition = conditions[at]
    if (condition !== undefined && !matchesCondition(condition, scope)) return false
  }
  return true
}

/** Whether some condition holds; false for an empty list. */
export function matchesAny(
  conditions: readonly CompiledCondition[],
  scope: ConditionScope,
): boolean {
  for (const condition of conditions) if (matchesCondition(condition, scope)) return true
  return false
}

/** Whether no condition holds; true for an empty list. */
export function matchesNone(
  conditions: readonly CompiledCondition[],
  scope: ConditionScope,
): boolean {
  return !matchesAny(conditions, scope)
}

/** The result of the test; `undefined` if what the condition reads is missing or of another type. */
function testResultOf(
  { reference, isKey, flagKey, segmentIds }: CompiledCondition,
  test: Test,
  scope: ConditionScope,
): TestResult {
  if (reference !== undefined) {
    const read = isKey ? readBucketingKey : readAttribute
    return testFound(test, read(scope.context, reference))
  }
  if (flagKey !== undefined) return testFound(test, scope.servedVariation(flagKey))
  return segmentIds.some((segmentId) => scope.isInSegment(segmentId))
}
