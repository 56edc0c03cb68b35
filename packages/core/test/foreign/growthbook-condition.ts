import {
  type ConditionDefinition,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../src/index.ts'
import { ALWAYS, condition, type Expression, NEVER } from './expression.ts'

/** The lists that `$inGroup` refers to, by name. */
export type SavedGroups = Readonly<Record<string, readonly JsonValue[]>>

/** Translates a condition of GrowthBook on the attributes of a context. */
export function readCondition(source: JsonObject, groups: SavedGroups = {}): Expression {
  const parts = Object.entries(source).map(([name, wanted]): Expression => {
    switch (name) {
      case '$and':
        return { all: conditionsOf(wanted, groups) }
      case '$or':
        return isEmpty(wanted) ? ALWAYS : { any: conditionsOf(wanted, groups) }
      case '$nor':
        return isEmpty(wanted) ? ALWAYS : { not: { any: conditionsOf(wanted, groups) } }
      case '$not':
        return { not: readCondition(wanted as JsonObject, groups) }
      default:
        return readWanted(name, wanted, groups)
    }
  })
  return { all: parts }
}

function isEmpty(wanted: JsonValue): boolean {
  return Array.isArray(wanted) && wanted.length === 0
}

function conditionsOf(wanted: JsonValue, groups: SavedGroups): readonly Expression[] {
  return (wanted as JsonObject[]).map((each) => readCondition(each, groups))
}

/** Translates the requirement for one attribute: a value, or an object of operators. */
function readWanted(attribute: string, wanted: JsonValue, groups: SavedGroups): Expression {
  if (wanted === null) return condition(attribute, 'not_exists')
  if (isOperators(wanted)) {
    const operators = Object.entries(wanted)
    return { all: operators.map(([name, value]) => readOperator(attribute, name, value, groups)) }
  }
  if (typeof wanted === 'number') {
    const equal = withoutArrays(attribute, condition(attribute, 'between', [wanted, wanted]))
    return wanted === 0 ? orMissing(attribute, equal) : equal
  }
  const equal = condition(attribute, 'eq', wanted)
  return typeof wanted === 'object' ? equal : withoutArrays(attribute, equal)
}

function isOperators(wanted: JsonValue): wanted is JsonObject {
  if (!isJsonObject(wanted)) return false
  const names = Object.keys(wanted)
  return names.length > 0 && names.every((name) => name.startsWith('$'))
}

/**
 * Excludes arrays. GrowthBook compares an array as a whole, but in this engine one matching element
 * is enough.
 */
function withoutArrays(attribute: string, expression: Expression): Expression {
  return { all: [expression, { not: condition(attribute, 'is_type', 'array') }] }
}

/** Includes missing attributes, which count as 0 in the comparisons of GrowthBook. */
function orMissing(attribute: string, expression: Expression): Expression {
  return { any: [expression, condition(attribute, 'not_exists')] }
}

function readOperator(
  attribute: string,
  name: string,
  wanted: JsonValue,
  groups: SavedGroups,
): Expression {
  const version = VERSION_OPERATORS.get(name)
  if (version !== undefined) return readVersion(attribute, version, String(wanted))
  const comparison = COMPARISONS.get(name)
  if (comparison !== undefined) return readComparison(attribute, comparison, wanted)
  switch (name) {
    case '$eq':
      return equalTo(attribute, wanted)
    case '$ne':
      return { not: equalTo(attribute, wanted) }
    case '$exists':
      return condition(attribute, wanted === true ? 'exists' : 'not_exists')
    case '$not':
      return { not: readWanted(attribute, wanted, groups) }
    case '$type':
      return ofType(attribute, wanted)
    case '$regex':
      return condition(attribute, 'matches', wanted)
    case '$regexi':
      return condition(attribute, 'matches_ci', wanted)
    case '$size':
      return readSize(attribute, wanted)
    case '$elemMatch':
      return readElements(attribute, wanted, groups)
    default:
      return readList(attribute, name, wanted, groups)
  }
}

function equalTo(attribute: string, wanted: JsonValue): Expression {
  if (wanted === null) return condition(attribute, 'not_exists')
  return {
    all: [condition(attribute, 'eq', wanted), condition(attribute, 'is_type', typeOf(wanted))],
  }
}

function ofType(attribute: string, wanted: JsonValue): Expression {
  if (wanted === 'null') return condition(attribute, 'not_exists')
  return condition(attribute, 'is_type', wanted)
}

function readList(
  attribute: string,
  name: string,
  wanted: JsonValue,
  groups: SavedGroups,
): Expression {
  if (name === '$inGroup') return oneOf(attribute, groups[String(wanted)] ?? [], 'in')
  if (name === '$notInGroup') return { not: oneOf(attribute, groups[String(wanted)] ?? [], 'in') }
  if (!Array.isArray(wanted)) return NEVER
  switch (name) {
    case '$in':
      return oneOf(attribute, wanted, 'in')
    case '$nin':
      return { not: oneOf(attribute, wanted, 'in') }
    case '$ini':
      return oneOf(attribute, wanted, 'in_ci')
    case '$nini':
      return { not: oneOf(attribute, wanted, 'in_ci') }
    case '$all':
      return condition(attribute, 'array_contains_all', wanted)
    case '$alli': {
      const each = wanted.map((value) => condition(attribute, 'eq_ci', value))
      return { all: [condition(attribute, 'is_type', 'array'), ...each] }
    }
    default:
      return NEVER
  }
}

/**
 * Returns a condition that an attribute, or an element of it, is in a list. It also checks the
 * type, because for GrowthBook, unlike this engine, the text "3" and the number 3 are different.
 */
function oneOf(attribute: string, wanted: readonly JsonValue[], operator: string): Expression {
  const types = [...new Set(wanted.map(typeOf))]
  return {
    any: types.map((type) => {
      const values = wanted.filter((value) => typeOf(value) === type)
      const listed = condition(attribute, operator, values)
      return { all: [listed, condition(attribute, 'is_type', [type, 'array'])] }
    }),
  }
}

function typeOf(value: JsonValue): string {
  return Array.isArray(value) ? 'array' : typeof value
}

interface Comparison {
  readonly numeric: string
  readonly textual: string
  readonly holds: (left: number, right: number) => boolean
}

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map([
  [
    '$gt',
    { numeric: 'gt', textual: 'str_gt', holds: (left: number, right: number) => left > right },
  ],
  [
    '$gte',
    { numeric: 'gte', textual: 'str_gte', holds: (left: number, right: number) => left >= right },
  ],
  [
    '$lt',
    { numeric: 'lt', textual: 'str_lt', holds: (left: number, right: number) => left < right },
  ],
  [
    '$lte',
    { numeric: 'lte', textual: 'str_lte', holds: (left: number, right: number) => left <= right },
  ],
])

/** Translates a comparison. GrowthBook compares two texts as texts, and other values as numbers. */
function readComparison(
  attribute: string,
  { numeric, textual, holds }: Comparison,
  wanted: JsonValue,
): Expression {
  const number = Number(wanted)
  const asNumber = Number.isFinite(number) ? condition(attribute, numeric, number) : NEVER
  const asMissing = holds(0, number) ? condition(attribute, 'not_exists') : NEVER
  const isNumber = condition(attribute, 'is_type', 'number')
  const present: Expression =
    typeof wanted === 'string'
      ? { any: [condition(attribute, textual, wanted), { all: [isNumber, asNumber] }] }
      : asNumber
  return asMissing === NEVER ? present : { any: [present, asMissing] }
}

function readSize(attribute: string, wanted: JsonValue): Expression {
  if (!isOperators(wanted)) return condition(attribute, 'array_size', wanted)
  return {
    all: Object.entries(wanted).map(([name, value]) => {
      const op = COMPARISONS.get(name)?.numeric
      return op === undefined ? NEVER : condition(attribute, 'array_size', { op, value })
    }),
  }
}

/** Translates conditions on one element of an array, which must not be nested. */
function readElements(attribute: string, wanted: JsonValue, groups: SavedGroups): Expression {
  const inner = isOperators(wanted)
    ? readWanted('', wanted, groups)
    : readCondition(isJsonObject(wanted) ? wanted : {}, groups)
  return condition(attribute, 'elem_match', flatten(inner))
}

function flatten(expression: Expression): readonly ConditionDefinition[] {
  if ('all' in expression) return expression.all.flatMap(flatten)
  if ('not' in expression) {
    const [only, ...others] = flatten(expression.not)
    if (only === undefined || others.length > 0) throw new TypeError('Too deep for one element')
    return [{ ...only, negate: only.negate !== true }]
  }
  if (!('any' in expression)) return [expression]
  const [only, ...others] = expression.any
  if (only === undefined || others.length > 0) throw new TypeError('Too deep for one element')
  return flatten(only)
}

const VERSION_OPERATORS = new Map([
  ['$veq', 'eq'],
  ['$vne', 'ne'],
  ['$vgt', 'gt'],
  ['$vgte', 'gte'],
  ['$vlt', 'lt'],
  ['$vlte', 'lte'],
])

/**
 * Translates a comparison of versions. In GrowthBook, versions are any texts, split at dots and
 * hyphens. They are equal if all parts are equal. Otherwise they have the order of semantic
 * versions, except that a version that does not start with a number is greater than one that does.
 */
function readVersion(attribute: string, operator: string, wanted: string): Expression {
  if (operator === 'eq') return condition(attribute, 'matches', sameParts(wanted))
  if (operator === 'ne') return { not: condition(attribute, 'matches', sameParts(wanted)) }
  const ordered = condition(attribute, `semver_${operator}`, wanted)
  if (operator.startsWith('l')) return ordered
  return { any: [ordered, condition(attribute, 'matches', '^v?[0-9]*[^-.+0-9]')] }
}

function sameParts(version: string): string {
  const parts = version.replace(/^v|\+.*$/g, '').split(/[-.]/)
  const escaped = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return `^v?${escaped.join('[-.]')}([+].*)?$`
}
