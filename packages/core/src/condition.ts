import {
  type AttributeReference,
  compileReference,
  readAttribute,
  readBucketingKey,
  readElement,
} from './attribute.ts'
import { type ElementCondition, type Means, parseTexts, type Test } from './comparison.ts'
import type { EvaluationContext } from './context.ts'
import type { ConditionDefinition } from './definition.ts'
import type { Engines } from './engines.ts'
import { isJsonObject, type JsonArray, type JsonValue } from './json.ts'
import { listReader } from './listed-texts.ts'
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
  /** The attribute is read as the key of a rollout would be. */
  readonly isKey: boolean
  /** Undefined: the condition cannot be read, and never holds. */
  readonly test: Test | undefined
  readonly wants: Wanted
  readonly isNegated: boolean
  /**
   * Whether it holds for an attribute that is text; undefined: that takes more. Most conditions ask
   * no more than whether text is one of a few, and most attributes are text.
   */
  readonly holdsForText: ((text: string) => boolean) | undefined
  /** The engines it needs that were not handed in, without which there is no answer. */
  readonly lacks: readonly string[]
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
  holdsForText: undefined,
} as const

/**
 * Reads a condition once, so that judging it is fast. Never throws: one with an unknown operator
 * or an unreadable value becomes a condition that never holds, negated or not.
 */
export function compileCondition(
  definition: ConditionDefinition,
  engines: Engines = {},
): CompiledCondition {
  const meaning = meaningOf(definition)
  const lacks = new Set<string>()
  const test = meaning && readTest(definition, meaning, meansAt(0, engines, lacks))
  if (meaning === undefined || test === undefined) return { ...UNREADABLE, lacks: [...lacks] }
  const { attribute, value, negate } = definition
  const { subject, wants } = meaning
  const isOnAttribute = subject === 'attribute' || subject === 'key'
  return {
    segmentIds: subject === 'segment' ? (parseTexts(value) ?? NONE) : NONE,
    flagKey: subject === 'flag' ? attribute : undefined,
    reference: isOnAttribute ? compileReference(attribute) : undefined,
    isKey: subject === 'key',
    test: value.length > LONG_VALUE ? readWhenAsked(definition, engines) : test,
    wants,
    isNegated: negate === true,
    holdsForText: listReader(definition, (wants === 'match') !== (negate === true)),
    lacks: NONE,
  }
}

/** What is read of longer values is kept only once somebody asks: most answers come from an index. */
const LONG_VALUE = 64

function readWhenAsked(definition: ConditionDefinition, engines: Engines): Test {
  let test: Test | undefined
  return (attribute) => {
    test ??= readAgain(definition, engines)
    return test?.(attribute)
  }
}

function readAgain(definition: ConditionDefinition, engines: Engines): Test | undefined {
  const meaning = meaningOf(definition)
  return meaning && readTest(definition, meaning, meansAt(0, engines, new Set()))
}

/** Compiles conditions; equal ones, of which large flag sets have many, only once. */
export function sharedConditions(
  engines: Engines,
): (definition: ConditionDefinition) => CompiledCondition {
  const known = new Map<string, CompiledCondition>()
  return (definition) => {
    const name = isWellFormed(definition) ? nameOf(definition) : ''
    const shared = known.get(name)
    if (shared !== undefined) return shared
    const condition = compileCondition(definition, engines)
    if (name !== '') known.set(name, condition)
    return condition
  }
}

/** Different for conditions that mean something different: the lengths say where each text ends. */
function nameOf({ attribute, operator, value, negate }: ConditionDefinition): string {
  return `${attribute.length} ${operator.length} ${negate === true} ${operator}${attribute}${value}`
}

/** How deep conditions on elements may contain conditions on elements. */
const MAX_ELEMENT_NESTING = 4

function meansAt(depth: number, engines: Engines, lacks: Set<string>): Means {
  return {
    engines,
    lack: (engine) => {
      lacks.add(engine)
      return undefined
    },
    readElementCondition: (definition) => {
      if (depth === MAX_ELEMENT_NESTING) return undefined
      return compileElementCondition(definition, meansAt(depth + 1, engines, lacks))
    },
  }
}

/** A condition that looks at nothing but one element; its value may be any JSON. */
function compileElementCondition(
  definition: JsonValue,
  means: Means,
): ElementCondition | undefined {
  if (!isJsonObject(definition)) return undefined
  const value = textOf(definition['value'])
  const written = { ...definition, value } as unknown as ConditionDefinition
  const meaning = meaningOf(written)
  const test = meaning?.subject === 'attribute' ? readTest(written, meaning, means) : undefined
  if (meaning === undefined || test === undefined) return undefined
  const reference = compileReference(written.attribute)
  const { wants } = meaning
  const isNegated = written.negate === true
  return (element) => {
    const found = readElement(element, reference)
    return isWanted(testFound(test, found), wants) !== isNegated
  }
}

/** The test of an attribute: of an array as a whole, and of its elements too. */
function readTest(
  { value }: ConditionDefinition,
  { comparison }: OperatorMeaning,
  means: Means,
): Test | undefined {
  const test = comparison.read(value, means)
  if (test === undefined || comparison.isOfWhole === true) return test
  return (attribute) => (Array.isArray(attribute) ? testArray(test, attribute) : test(attribute))
}

/** An array is tested as a whole and element by element; one match is enough. */
function testArray(test: Test, array: JsonArray): boolean | undefined {
  const whole = test(array)
  if (whole === true) return true
  let outcome = array.length === 0 ? false : whole
  for (const element of array) {
    const result = test(element)
    if (result === true) return true
    outcome ??= result
  }
  return outcome
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value ?? ''
  try {
    return JSON.stringify(value)
  } catch {
    // Nested deeper than the stack is.
    return undefined
  }
}

/** Whether the condition holds for the context. Never throws. */
export function matchesCondition(condition: CompiledCondition, scope: ConditionScope): boolean {
  const { test, holdsForText, reference } = condition
  if (test === undefined) return false
  if (holdsForText === undefined || reference === undefined) {
    return holdsAfter(condition, outcomeOf(condition, test, scope))
  }
  const value = readAttribute(scope.context, reference)
  return typeof value === 'string' ? holdsForText(value) : holdsFor(condition, value)
}

/** Whether a condition on an attribute holds for its value; undefined: it is missing. */
export function holdsFor(condition: CompiledCondition, value: JsonValue | undefined): boolean {
  const { test } = condition
  return test !== undefined && holdsAfter(condition, testFound(test, value))
}

/** Whether a condition holds after this outcome of its test; undefined: there was nothing to test. */
export function holdsAfter(
  { wants, isNegated }: CompiledCondition,
  outcome: boolean | undefined,
): boolean {
  return isWanted(outcome, wants) !== isNegated
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

/** What the operator of a condition means; undefined: it has none that is known. */
export function meaningOf(definition: ConditionDefinition): OperatorMeaning | undefined {
  if (!isWellFormed(definition) || !isOperator(definition.operator)) return undefined
  return operators.get(definition.operator)
}

/** Definitions come from outside: their type is only a promise. */
export function isWellFormed(definition: unknown): boolean {
  if (!isJsonObject(definition)) return false
  const { attribute, operator, value } = definition
  return [attribute, operator, value].every((field) => typeof field === 'string')
}

/** Undefined: what the condition asks about is missing, or of another type. */
function outcomeOf(
  { reference, isKey, flagKey, segmentIds }: CompiledCondition,
  test: Test,
  scope: ConditionScope,
): boolean | undefined {
  if (reference !== undefined) {
    const read = isKey ? readBucketingKey : readAttribute
    return testFound(test, read(scope.context, reference))
  }
  if (flagKey !== undefined) return testFound(test, scope.servedVariation(flagKey))
  return segmentIds.some((segmentId) => scope.isInSegment(segmentId))
}

function testFound(test: Test, value: JsonValue | undefined): boolean | undefined {
  return value === undefined ? undefined : test(value)
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
