import { compileReference, readElement } from '../model/attribute.ts'
import type { ConditionDefinition } from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import { isJsonObject, type JsonArray, type JsonValue } from '../model/json.ts'
import type { ElementConditions, Means, Test, TestResult } from './comparison.ts'
import { isOperator, type OperatorMeaning, operators, type Wanted } from './operator.ts'

const NONE: readonly string[] = []

/** The maximum depth of nested conditions on elements. */
export const MAX_ELEMENT_NESTING = 4

/** Parses the value of one condition. */
export class ValueReader implements Means {
  readonly extensions: Extensions
  #missing: Set<string> | undefined
  /** The functions that `lazily` returned. */
  #makers: (() => unknown)[] | undefined
  #depth = 0
  #elementConditions = 0
  #elementPatterns = 0

  constructor(extensions: Extensions) {
    this.extensions = extensions
  }

  /** The required extensions that are missing. */
  get missing(): readonly string[] {
    return this.#missing === undefined ? NONE : [...this.#missing]
  }

  /** Creates the results of all `lazily` functions. */
  makeAll(): void {
    for (const make of this.#makers ?? []) make()
  }

  /**
   * Returns the test of the operator for the value of a condition, or `undefined` if the value is
   * invalid. An array is tested as a whole and, for most operators, element by element.
   */
  read(
    { value, negate }: ConditionDefinition,
    { comparison, wants }: OperatorMeaning,
  ): Test | undefined {
    const test = comparison.read(value, this, wants !== 'match' || negate === true)
    if (test === undefined || comparison.isOfWhole === true) return test
    return (attribute) => (Array.isArray(attribute) ? testArray(test, attribute) : test(attribute))
  }

  reportMissing(extension: string): undefined {
    this.#missing ??= new Set()
    this.#missing.add(extension)
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

  /**
   * Compiles a condition on one element. The value of the condition can be any JSON. Returns
   * `undefined` if the condition is invalid or requires more than the element.
   */
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
      const value = readElement(element, reference)
      return holdsAfter({ wants, isNegated }, value === undefined ? undefined : test(value))
    }
  }
}

/**
 * Tests an array as a whole and element by element. The array matches if one of the tests matches.
 * Otherwise, it is unreadable if one of the tests has this result.
 */
function testArray(test: Test, array: JsonArray): TestResult {
  const whole = test(array)
  if (whole === true) return true
  let outcome = array.length === 0 ? false : whole
  for (const element of array) {
    const result = test(element)
    if (result === true) return true
    if (result === 'unreadable') outcome = result
    else outcome ??= result
  }
  return outcome
}

/**
 * Returns a condition on an element as a definition, with its value as text. `undefined` if the
 * condition is not an object.
 */
export function elementDefinition(written: JsonValue): ConditionDefinition | undefined {
  if (!isJsonObject(written)) return undefined
  return { ...written, value: textOf(written['value']) } as unknown as ConditionDefinition
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value ?? ''
  try {
    return JSON.stringify(value)
  } catch {
    // The value is nested too deeply for the stack.
    return undefined
  }
}

/** The test of a valid condition, which parses the value of the condition when it is first needed. */
export class ConditionTest {
  readonly #definition: ConditionDefinition
  readonly #extensions: Extensions
  #test: Test | undefined

  /** `test` is absent if the value is not parsed yet. */
  constructor(definition: ConditionDefinition, extensions: Extensions, test?: Test) {
    this.#definition = definition
    this.#extensions = extensions
    this.#test = test
  }

  /**
   * Returns the result for the value of an attribute. `undefined` if `value` is `undefined`, which
   * stands for a missing attribute.
   */
  resultFor(value: JsonValue | undefined): TestResult {
    if (value === undefined) return undefined
    if (this.#test === undefined) this.#read()
    return this.#test?.(value)
  }

  /** Parses the value and does all expensive work. Returns `false` if the test was used before. */
  prepare(): boolean {
    if (this.#test !== undefined) return false
    this.#read().makeAll()
    return true
  }

  #read(): ValueReader {
    const reader = new ValueReader(this.#extensions)
    const meaning = meaningOf(this.#definition)
    this.#test = meaning && reader.read(this.#definition, meaning)
    return reader
  }
}

/**
 * Returns `true` if a condition matches when its test has this outcome. The outcome `undefined`
 * means that the tested value is missing or has another type.
 */
export function holdsAfter(
  { wants, isNegated }: { readonly wants: Wanted; readonly isNegated: boolean },
  outcome: TestResult,
): boolean {
  return outcome !== 'unreadable' && isWanted(outcome, wants) !== isNegated
}

/**
 * Returns the meaning of the operator of a condition, or `undefined` if the operator is unknown.
 */
export function meaningOf(definition: ConditionDefinition): OperatorMeaning | undefined {
  if (!isWellFormed(definition) || !isOperator(definition.operator)) return undefined
  return operators.get(definition.operator)
}

/** Returns `true` if the attribute, the operator and the value of a condition are text. */
export function isWellFormed(definition: unknown): boolean {
  if (!isJsonObject(definition)) return false
  const { attribute, operator, value } = definition
  return typeof attribute === 'string' && typeof operator === 'string' && typeof value === 'string'
}

function isWanted(outcome: boolean | undefined, wants: Wanted): boolean {
  if (wants === 'anything-but-match') return outcome !== true
  return outcome === (wants === 'match')
}
