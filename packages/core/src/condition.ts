import { type AttributeReference, compileReference, readAttribute } from './attribute.ts'
import { parseTexts, type Test } from './comparison.ts'
import type { EvaluationContext } from './context.ts'
import type { ConditionDefinition } from './definition.ts'
import { isJsonObject, type JsonValue } from './json.ts'
import { isOperator, type OperatorMeaning, operators, type Wanted } from './operator.ts'

/** What a condition may ask about: the context, and what else is known about it. */
export interface ConditionScope {
  readonly context: EvaluationContext
  /** False for a segment that does not exist. */
  isInSegment(segmentId: string): boolean
  /** The key of the variation that the flag serves to this context; undefined: unknown flag or nothing served. */
  servedVariation(flagKey: string): string | undefined
}

/** A condition whose value has been read. Made by `compileCondition`. */
export interface CompiledCondition {
  /** The segments it asks about; none unless the operator is about segments. */
  readonly segmentIds: readonly string[]
  /** The flag it asks about; undefined unless the operator is about flags. */
  readonly flagKey: string | undefined
  /** Where its attribute is found; undefined unless the operator is about attributes. */
  readonly reference: AttributeReference | undefined
  /** Undefined: the condition cannot be read, and never holds. */
  readonly test: Test | undefined
  readonly wants: Wanted
  readonly isNegated: boolean
}

const UNREADABLE: CompiledCondition = {
  segmentIds: [],
  flagKey: undefined,
  reference: undefined,
  test: undefined,
  wants: 'match',
  isNegated: false,
}

/**
 * Reads a condition once, so that judging it is fast. Never throws: one with an unknown operator
 * or an unreadable value becomes a condition that never holds, negated or not.
 */
export function compileCondition(definition: ConditionDefinition): CompiledCondition {
  const meaning = meaningOf(definition)
  const test = meaning?.comparison.read(definition.value)
  if (meaning === undefined || test === undefined) return UNREADABLE
  const { attribute, value, negate } = definition
  const { subject, wants } = meaning
  return {
    segmentIds: subject === 'segment' ? (parseTexts(value) ?? []) : [],
    flagKey: subject === 'flag' ? attribute : undefined,
    reference: subject === 'attribute' ? compileReference(attribute) : undefined,
    test,
    wants,
    isNegated: negate === true,
  }
}

/** Why a condition must be refused when it is written, as a sentence; undefined: it is fine. */
export function conditionFault(definition: ConditionDefinition): string | undefined {
  const meaning = meaningOf(definition)
  if (meaning !== undefined) {
    const { read, expects } = meaning.comparison
    const isReadable = read(definition.value) !== undefined
    return isReadable ? undefined : `The value of "${definition.operator}" must be ${expects}.`
  }
  if (!isWellFormed(definition))
    return 'A condition has an attribute, an operator and a value, all text.'
  return `There is no operator "${definition.operator}".`
}

/** Whether the condition holds for the context. Never throws. */
export function matchesCondition(condition: CompiledCondition, scope: ConditionScope): boolean {
  const { test, wants, isNegated } = condition
  if (test === undefined) return false
  return isWanted(outcomeOf(condition, test, scope), wants) !== isNegated
}

/** Whether every condition holds; true for an empty list. */
export function matchesAll(
  conditions: readonly CompiledCondition[],
  scope: ConditionScope,
): boolean {
  return conditions.every((condition) => matchesCondition(condition, scope))
}

/** Whether some condition holds; false for an empty list. */
export function matchesAny(
  conditions: readonly CompiledCondition[],
  scope: ConditionScope,
): boolean {
  return conditions.some((condition) => matchesCondition(condition, scope))
}

/** Whether no condition holds; true for an empty list. */
export function matchesNone(
  conditions: readonly CompiledCondition[],
  scope: ConditionScope,
): boolean {
  return !matchesAny(conditions, scope)
}

function meaningOf(definition: ConditionDefinition): OperatorMeaning | undefined {
  if (!isWellFormed(definition) || !isOperator(definition.operator)) return undefined
  return operators.get(definition.operator)
}

/** Definitions come from outside: their type is only a promise. */
function isWellFormed(definition: unknown): boolean {
  if (!isJsonObject(definition)) return false
  const { attribute, operator, value } = definition
  return [attribute, operator, value].every((field) => typeof field === 'string')
}

/** Undefined: what the condition asks about is missing, or of another type. */
function outcomeOf(
  condition: CompiledCondition,
  test: Test,
  scope: ConditionScope,
): boolean | undefined {
  const { reference, flagKey, segmentIds } = condition
  if (reference !== undefined) return testAttribute(test, readAttribute(scope.context, reference))
  if (flagKey !== undefined) return testAttribute(test, scope.servedVariation(flagKey))
  return segmentIds.some((segmentId) => scope.isInSegment(segmentId))
}

/** An array is tested as a whole and element by element; one match is enough. */
function testAttribute(test: Test, value: JsonValue | undefined): boolean | undefined {
  if (value === undefined) return undefined
  const whole = test(value)
  if (!Array.isArray(value) || whole === true) return whole
  let outcome = value.length === 0 ? false : whole
  for (const element of value) {
    const result = test(element)
    if (result === true) return true
    outcome ??= result
  }
  return outcome
}

function isWanted(outcome: boolean | undefined, wants: Wanted): boolean {
  switch (wants) {
    case 'match':
      return outcome === true
    case 'no-match':
      return outcome === false
    case 'anything-but-match':
      return outcome !== true
  }
}
