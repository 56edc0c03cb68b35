import {
  type AttributeReference,
  compileReference,
  type Parts,
  readAttribute,
  readBucketingKey,
} from '../model/attribute.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { ConditionDefinition } from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import { getOrMake } from '../model/get-or-make.ts'
import type { Incremental, Pace } from '../model/incremental.ts'
import { elementsOf, type JsonValue } from '../model/json.ts'
import { type Expectation, parseTexts, type TestResult } from './comparison.ts'
import { operators, type Wanted } from './operator.ts'
import { isStringSetCondition, StringSetCondition } from './string-set-condition.ts'
import { ConditionTest, holdsAfter, meaningOf, ValueReader } from './value-reader.ts'

/** The input of a condition: a context, and the results of segments and flags for this context. */
export interface ConditionScope {
  readonly context: EvaluationContext
  /** The result of `partsOf` for the context, if it has been computed. */
  readonly parts?: Parts | undefined
  /** Returns `true` if the segment matches the context. `false` if the segment does not exist. */
  isInSegment(segmentId: string): boolean
  /**
   * Returns the key of the variation that the flag serves to the context, or `undefined` if the
   * flag does not exist or serves no variation.
   */
  servedVariation(flagKey: string): string | undefined
}

/** A condition with a parsed value. Created by `compileCondition`. */
export interface CompiledCondition {
  /** The segments that the condition reads. Empty unless the operator is about segments. */
  readonly segmentIds: readonly string[]
  /** The flag that the condition reads. `undefined` unless the operator is about flags. */
  readonly flagKey: string | undefined
  /**
   * The attribute that the condition reads. `undefined` unless the operator is about attributes.
   */
  readonly reference: AttributeReference | undefined
  /** `true` if the attribute is read like the bucketing key of a rollout. */
  readonly isKey: boolean
  /**
   * The test of the operator. `undefined` if the condition is invalid, so that it never matches.
   */
  readonly test: Pick<ConditionTest, 'resultFor' | 'prepare'> | undefined
  readonly wants: Wanted
  readonly isNegated: boolean
  /**
   * A faster evaluation for attributes that are text. `undefined` if the operator does not compare
   * a text with a set of strings.
   */
  readonly stringSet: StringSetCondition | undefined
  /** The required extensions that are missing. If there are any, the condition never matches. */
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
} as const

/**
 * The maximum length of a regular expression that stays compiled, in UTF-16 units. Any other value
 * is parsed again when it is first used. Most of them are never used, because most results come
 * from an index.
 */
const LONG_PATTERN = 64

/**
 * Compiles a condition. Never throws. A condition with an unknown operator or an invalid value
 * never matches, negated or not.
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
  const isShortPattern = value.length <= LONG_PATTERN && REGEX.has(meaning.comparison.expects)
  const isOnAttribute = subject === 'attribute' || subject === 'key'
  return {
    segmentIds: segmentIdsOf(definition),
    flagKey: subject === 'flag' ? attribute : undefined,
    reference: isOnAttribute ? compileReference(attribute) : undefined,
    isKey: subject === 'key',
    test: new ConditionTest(definition, extensions, isShortPattern ? test : undefined),
    wants,
    isNegated: negate === true,
    stringSet: isStringSetCondition(definition)
      ? new StringSetCondition(definition, (wants === 'match') !== (negate === true))
      : undefined,
    missing: NONE,
  }
}

/** Returns the ids of the segments that a condition refers to. Empty if its value is invalid. */
export function segmentIdsOf(definition: ConditionDefinition): readonly string[] {
  if (meaningOf(definition)?.subject !== 'segment') return NONE
  return parseTexts(definition.value) ?? NONE
}

/** A reference of a condition to a flag. */
export interface FlagReference {
  readonly flagKey: string
  /** The variations that the condition lists. Empty if the value of the condition is invalid. */
  readonly variationKeys: readonly string[]
}

/** Returns the flag that a condition refers to, or `undefined` if it refers to none. */
export function flagReferenceOf(definition: ConditionDefinition): FlagReference | undefined {
  if (meaningOf(definition)?.subject !== 'flag') return undefined
  return { flagKey: definition.attribute, variationKeys: parseTexts(definition.value) ?? NONE }
}

const newConditions = () => new Map<string, CompiledCondition>()

/** Compiles the conditions of a flag set. Equal conditions have the same compiled form. */
export class ConditionCompiler {
  readonly extensions: Extensions
  /** The conditions by operator and attribute, then by value. */
  readonly #compiled = new Map<string, Map<string, CompiledCondition>>()
  readonly #referring: ReadonlySet<string>

  constructor(extensions: Extensions) {
    this.extensions = extensions
    this.#referring = referringOperators(extensions)
  }

  compile(definition: ConditionDefinition): CompiledCondition {
    if (meaningOf(definition) === undefined) return compileCondition(definition, this.extensions)
    const { attribute, operator, value, negate } = definition
    // No operator contains a space.
    const name = `${negate === true ? '!' : ''}${operator} ${attribute}`
    const byValue = getOrMake(this.#compiled, name, newConditions)
    // Without `getOrMake`, whose function would be created for each of many conditions.
    const compiled = byValue.get(value) ?? compileCondition(definition, this.extensions)
    byValue.set(value, compiled)
    return compiled
  }

  /** Compiles conditions. Throws if one of them is not an object with a value. */
  *compileAll(
    definitions: readonly ConditionDefinition[],
    pace: Pace,
  ): Incremental<readonly CompiledCondition[]> {
    const compiled: CompiledCondition[] = []
    for (const definition of elementsOf(definitions)) {
      compiled.push(this.compile(definition))
      if (pace.add(CONDITION_WORK + definition.value.length)) yield
    }
    // The copy has no room for more elements.
    return compiled.slice()
  }

  /**
   * Returns `true` if a condition can refer to a segment, a flag or a missing extension. Throws like
   * `compileAll` if the condition is not an object with a value.
   */
  canRefer({ operator, value }: ConditionDefinition): boolean {
    // A value that is not text has no length.
    return value.length >= 0 && this.#referring.has(operator)
  }
}

function referringOperators({ regex }: Extensions): ReadonlySet<string> {
  const referring = [...operators].filter(([, { subject, comparison }]) => {
    return subject !== 'attribute' || (regex === undefined && REGEX.has(comparison.expects))
  })
  return new Set(referring.map(([operator]) => operator))
}

/** The work of the compilation of a condition, in addition to the length of its value. */
const CONDITION_WORK = 64

/** The expectations of the comparisons that can require a regular expression engine. */
const REGEX: ReadonlySet<Expectation> = new Set(['pattern', 'conditions'])

/** Returns `true` if the condition matches the context. Never throws. */
export function matchesCondition(condition: CompiledCondition, scope: ConditionScope): boolean {
  const { test, stringSet, reference } = condition
  if (test === undefined) return false
  if (stringSet === undefined || reference === undefined) {
    return holdsAfter(condition, testResultOf(condition, test, scope))
  }
  const value = readAttribute(scope.context, reference, scope.parts)
  return typeof value === 'string' ? stringSet.holdsFor(value) : holdsFor(condition, value)
}

/**
 * Returns `true` if a condition on an attribute matches `value`. `undefined` stands for a missing
 * attribute.
 */
export function holdsFor(condition: CompiledCondition, value: JsonValue | undefined): boolean {
  const { test } = condition
  return test !== undefined && holdsAfter(condition, test.resultFor(value))
}

/** Returns `true` if every condition matches, and for an empty list. */
export function matchesAll(
  conditions: readonly CompiledCondition[],
  scope: ConditionScope,
): boolean {
  // A loop, because `every` would allocate a closure for each call.
  for (let at = 0; at < conditions.length; at += 1) {
    const condition = conditions[at]
    if (condition !== undefined && !matchesCondition(condition, scope)) return false
  }
  return true
}

/** Returns `true` if at least one condition matches. `false` for an empty list. */
export function matchesAny(
  conditions: readonly CompiledCondition[],
  scope: ConditionScope,
): boolean {
  for (const condition of conditions) if (matchesCondition(condition, scope)) return true
  return false
}

/** Returns `true` if no condition matches, and for an empty list. */
export function matchesNone(
  conditions: readonly CompiledCondition[],
  scope: ConditionScope,
): boolean {
  return !matchesAny(conditions, scope)
}

/**
 * Returns the result of the test, or `undefined` if the tested value is missing or has another
 * type.
 */
function testResultOf(
  { reference, isKey, flagKey, segmentIds }: CompiledCondition,
  test: Pick<ConditionTest, 'resultFor'>,
  scope: ConditionScope,
): TestResult {
  if (reference !== undefined) {
    const read = isKey ? readBucketingKey : readAttribute
    return test.resultFor(read(scope.context, reference, scope.parts))
  }
  if (flagKey !== undefined) return test.resultFor(scope.servedVariation(flagKey))
  return segmentIds.some((segmentId) => scope.isInSegment(segmentId))
}
