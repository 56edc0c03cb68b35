import type { ConditionDefinition } from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import { isExactNumber, type JsonArray, type JsonObject, type JsonValue } from '../model/json.ts'
import { clip, quote } from '../model/quote.ts'
import { parseNetwork } from '../operators/cidr.ts'
import {
  asStructure,
  type Expectation,
  parseArray,
  parseDecimal,
  parseStructure,
  parseTexts,
} from '../operators/comparison.ts'
import { isOperator } from '../operators/operator.ts'
import { elementDefinition, MAX_ELEMENT_NESTING, meaningOf } from '../operators/value-reader.ts'
import { conditionFault } from './condition-fault.ts'
import { unknownOperator } from './operator-suggestion.ts'

/**
 * Returns a sentence that describes why a condition must not be saved, or `undefined` if the
 * condition is valid. Reports the faults of `conditionFault`, and values that the engine accepts
 * but that probably do not express what the author means: invalid JSON, lists without brackets,
 * invalid networks, and integers that lose digits.
 */
export function authoringFault(
  definition: ConditionDefinition,
  extensions: Extensions = {},
): string | undefined {
  return intentFault(definition, 0) ?? conditionFault(definition, extensions)
}

/** The value of a condition, and the form of the value that the operator expects. */
interface Written {
  readonly operator: string
  readonly value: string
  readonly expects: Expectation
  readonly depth: number
}

const CHECKS: readonly ((written: Written) => string | undefined)[] = [
  bracketFault,
  commaFault,
  networkFault,
  elementFault,
  numberFault,
]

function intentFault(definition: ConditionDefinition, depth: number): string | undefined {
  const meaning = meaningOf(definition)
  if (meaning === undefined) return undefined
  const { operator, value } = definition
  const written = { operator, value, expects: meaning.comparison.expects, depth }
  for (const check of CHECKS) {
    const fault = check(written)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** The expected forms that allow either one text or a JSON array. */
const LISTS: ReadonlySet<Expectation> = new Set(['list', 'texts', 'network', 'versions', 'types'])

function bracketFault({ operator, value, expects }: Written): string | undefined {
  if (!LISTS.has(expects) || !/^\s*\[/.test(value) || parseArray(value) !== undefined) {
    return undefined
  }
  const fault = `The value of ${quote(operator)} starts with "[" but is not a JSON array.`
  const isAnyText = expects === 'list' || expects === 'texts'
  return isAnyText ? `${fault} To compare with this text, write ${asList([value])}.` : fault
}

/** The operators for which users often write lists without brackets. */
const MEMBERSHIP: ReadonlySet<string> = new Set(['in', 'not_in', 'in_ci', 'not_in_ci'])

function commaFault({ operator, value }: Written): string | undefined {
  if (!MEMBERSHIP.has(operator) || !value.includes(',')) return undefined
  const structure = parseStructure(value)
  if (Array.isArray(structure)) return undefined
  const fault = `The value of ${quote(operator)} contains a comma but is not a JSON array.`
  if (structure !== undefined) return `${fault} Write ${asList([structure])}.`
  const entries = value.split(',').map((entry) => entry.trim())
  return `${fault} For a list, write ${asList(entries)}; for one text, write ${asList([value])}.`
}

function networkFault({ operator, value, expects }: Written): string | undefined {
  if (expects !== 'network') return undefined
  const entry = parseTexts(value)?.find((text) => parseNetwork(text) === undefined)
  if (entry === undefined) return undefined
  const fault =
    `The value of ${quote(operator)} has the entry ${quote(entry)}, ` +
    'which is neither an IP address nor a network in CIDR notation.'
  return /[\s,;]/.test(entry) ? `${fault} Write a list as a JSON array.` : fault
}

/**
 * Checks the conditions of `elem_match`. Conditions that are nested too deeply are a fault of
 * `conditionFault`.
 */
function elementFault({ operator, value, expects, depth }: Written): string | undefined {
  if (expects !== 'conditions' || depth === MAX_ELEMENT_NESTING) return undefined
  for (const [index, element] of (parseArray(value) ?? []).entries()) {
    const definition = elementDefinition(element)
    const fault = definition && elementConditionFault(definition, depth + 1)
    if (fault !== undefined)
      return `Condition ${index} in the value of ${quote(operator)}: ${fault}`
  }
  return undefined
}

function elementConditionFault(definition: ConditionDefinition, depth: number): string | undefined {
  const { operator } = definition
  const isUnknown = typeof operator === 'string' && !isOperator(operator)
  return isUnknown ? unknownOperator(operator) : intentFault(definition, depth)
}

/** The expected forms in which a number can also be text. */
const NUMERIC: ReadonlySet<Expectation> = new Set([
  'number',
  'timestamp',
  'range',
  'remainder',
  'size',
])
/** The operators that accept any text but compare JSON arrays and objects by value. */
const EQUALITY: ReadonlySet<string> = new Set(['eq', 'neq', 'eq_ci'])

function numberFault({ operator, value, expects }: Written): string | undefined {
  const isNumeric = NUMERIC.has(expects)
  const isRead = expects === 'text' ? EQUALITY.has(operator) : expects !== 'pattern'
  if (!isRead || numbersIn(value, isNumeric).every(isExactNumber)) return undefined
  return (
    `The value of ${quote(operator)} has an integer that cannot be represented exactly. ` +
    (isNumeric
      ? `Integers must be from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}.`
      : 'Write it as text.')
  )
}

/**
 * Returns the numbers in a JSON array or object. If `areTextsNumbers` is `true`, also returns the
 * decimal numbers in texts, and those in plain text such as `10|3`.
 */
function numbersIn(value: string, areTextsNumbers: boolean): readonly number[] {
  const structure = parseStructure(value)
  const scalars = structure === undefined ? value.split('|') : scalarsIn(structure)
  return scalars.flatMap((scalar) => {
    if (typeof scalar === 'number') return scalar
    return areTextsNumbers && typeof scalar === 'string' ? (parseDecimal(scalar) ?? []) : []
  })
}

function scalarsIn(structure: JsonArray | JsonObject): readonly JsonValue[] {
  const scalars: JsonValue[] = []
  const rest: JsonValue[] = [structure]
  // Not recursive, because JSON text can be nested too deeply for the stack.
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    const inner = asStructure(value)
    if (inner === undefined) scalars.push(value)
    else for (const each of Object.values(inner)) rest.push(each)
  }
  return scalars
}

function asList(entries: JsonArray): string {
  return clip(JSON.stringify(entries))
}
