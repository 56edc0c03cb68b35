import {
  type AttributeReference,
  compileReference,
  readAttribute,
  readBucketingKey,
  readElement,
} from './attribute.ts'
import {
  type ElementConditions,
  type Means,
  parseTexts,
  type Test,
  type TestResult,
} from './comparison.ts'
import type { EvaluationContext } from './context.ts'
import type { ConditionDefinition } from './definition.ts'
import type { Engines } from './engines.ts'
import { isJsonObject, type JsonArray, type JsonValue } from './json.ts'
import { asksForListed, ListedTexts } from './listed-texts.ts'
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
   * Decides it for text; undefined: that takes the test. Most conditions ask no more than whether text
   * is one of a few, and most attributes are text.
   */
  readonly listed: ListedTexts | undefined
  /** What reads a long value when the test first needs it; undefined: it has been read. */
  readonly later: Pick<LaterReader, 'prepare'> | undefined
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
  listed: undefined,
  later: undefined,
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
  const reader = new ValueReader(engines)
  const test = meaning && reader.read(definition, meaning)
  if (meaning === undefined || test === undefined) return { ...UNREADABLE, lacks: reader.lacks }
  const { attribute, value, negate } = definition
  const { subject, wants } = meaning
  const isOnAttribute = subject === 'attribute' || subject === 'key'
  const later = value.length > LONG_VALUE ? new LaterReader(definition, engines) : undefined
  return {
    segmentIds: subject === 'segment' ? (parseTexts(value) ?? NONE) : NONE,
    flagKey: subject === 'flag' ? attribute : undefined,
    reference: isOnAttribute ? compileReference(attribute) : undefined,
    isKey: subject === 'key',
    test: later === undefined ? test : (found) => later.test(found),
    wants,
    isNegated: negate === true,
    listed: asksForListed(definition)
      ? new ListedTexts(definition, (wants === 'match') !== (negate === true))
      : undefined,
    later,
    lacks: NONE,
  }
}

/** What is read of longer values is kept only once it is needed: most answers come from an index. */
const LONG_VALUE = 64

/** Reads the value of a condition when it is needed. */
class LaterReader {
  readonly #definition: ConditionDefinition
  readonly #engines: Engines
  #reader: ValueReader | undefined
  #test: Test | undefined
  #isPrepared = false

  constructor(definition: ConditionDefinition, engines: Engines) {
    this.#definition = definition
    this.#engines = engines
  }

  /** Tests an attribute. */
  test(attribute: JsonValue): TestResult {
    if (this.#reader === undefined) this.#read()
    return this.#test?.(attribute)
  }

  /** Makes what the test needs and takes long to make; false: it was made before. */
  prepare(): boolean {
    if (this.#isPrepared) return false
    this.#isPrepared = true
    const reader = this.#reader ?? this.#read()
    reader.makeAll()
    return true
  }

  #read(): ValueReader {
    const meaning = meaningOf(this.#definition)
    this.#reader = new ValueReader(this.#engines)
    this.#test = meaning && this.#reader.read(this.#definition, meaning)
    return this.#reader
  }
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
export const MAX_ELEMENT_NESTING = 4

/** Reads the value of one condition. */
class ValueReader implements Means {
  readonly engines: Engines
  #lacks: Set<string> | undefined
  /** What make, once, what would otherwise be made when it is first needed. */
  #makers: (() => unknown)[] | undefined
  #depth = 0
  #elementConditions = 0
  #elementPatterns = 0

  constructor(engines: Engines) {
    this.engines = engines
  }

  /** The engines that were needed and not handed in. */
  get lacks(): readonly string[] {
    return this.#lacks === undefined ? NONE : [...this.#lacks]
  }

  /** Makes everything that would be made when it is first needed. */
  makeAll(): void {
    for (const make of this.#makers ?? []) make()
  }

  /** The test of an attribute: of an array as a whole, and of its elements too. */
  read(
    { value, negate }: ConditionDefinition,
    { comparison, wants }: OperatorMeaning,
  ): Test | undefined {
    const test = comparison.read(value, this, wants !== 'match' || negate === true)
    if (test === undefined || comparison.isOfWhole === true) return test
    return (attribute) => (Array.isArray(attribute) ? testArray(test, attribute) : test(attribute))
  }

  lack(engine: string): undefined {
    this.#lacks ??= new Set()
    this.#lacks.add(engine)
  }

  lazily<Result extends object>(make: () => Result): () => Result {
    let made: Result | undefined
    const get = () => {
      made ??= make()
      return made
    }
    this.#makers ??= []
    this.#makers.push(get)
    return get
  }

  readElementConditions(definitions: JsonArray): ElementConditions | undefined {
    if (this.#depth === MAX_ELEMENT_NESTING) return undefined
    const [count, patterns] = [this.#elementConditions, this.#elementPatterns]
    this.#depth += 1
    const conditions = definitions.map((definition) => this.#readElementCondition(definition))
    this.#depth -= 1
    if (conditions.includes(undefined)) return undefined
    return {
      hold: (element) => conditions.every((holds) => holds?.(element)),
      count: this.#elementConditions - count,
      patterns: this.#elementPatterns - patterns,
    }
  }

  /** A condition that looks at nothing but one element; its value may be any JSON. */
  #readElementCondition(definition: JsonValue): ((element: JsonValue) => boolean) | undefined {
    const written = elementDefinition(definition)
    const meaning = written && meaningOf(written)
    if (written === undefined || meaning?.subject !== 'attribute') return undefined
    const test = this.read(written, meaning)
    if (test === undefined) return undefined
    this.#elementConditions += 1
    if (meaning.comparison.expects === 'pattern') this.#elementPatterns += 1
    const reference = compileReference(written.attribute)
    const { wants } = meaning
    const isNegated = written.negate === true
    return (element) => {
      return holdsAfter({ wants, isNegated }, testFound(test, readElement(element, reference)))
    }
  }
}

/** An array is tested as a whole and element by element; one match is enough. */
function testArray(test: Test, array: JsonArray): TestResult {
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

/** Returns a condition on an element as a definition, its value as text; undefined: no object. */
export function elementDefinition(written: JsonValue): ConditionDefinition | undefined {
  if (!isJsonObject(written)) return undefined
  return { ...written, value: textOf(written['value']) } as unknown as ConditionDefinition
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
  const { test, listed, reference } = condition
  if (test === undefined) return false
  if (listed === undefined || reference === undefined) {
    return holdsAfter(condition, outcomeOf(condition, test, scope))
  }
  const value = readAttribute(scope.context, reference)
  return typeof value === 'string' ? listed.holdsFor(value) : holdsFor(condition, value)
}

/** Whether a condition on an attribute holds for its value; undefined: it is missing. */
export function holdsFor(condition: CompiledCondition, value: JsonValue | undefined): boolean {
  const { test } = condition
  return test !== undefined && holdsAfter(condition, testFound(test, value))
}

/** Whether a condition holds after this outcome of its test; undefined: there was nothing to test. */
export function holdsAfter(
  { wants, isNegated }: Pick<CompiledCondition, 'wants' | 'isNegated'>,
  outcome: TestResult,
): boolean {
  return outcome !== 'unreadable' && isWanted(outcome, wants) !== isNegated
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
): TestResult {
  if (reference !== undefined) {
    const read = isKey ? readBucketingKey : readAttribute
    return testFound(test, read(scope.context, reference))
  }
  if (flagKey !== undefined) return testFound(test, scope.servedVariation(flagKey))
  return segmentIds.some((segmentId) => scope.isInSegment(segmentId))
}

function testFound(test: Test, value: JsonValue | undefined): TestResult {
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
