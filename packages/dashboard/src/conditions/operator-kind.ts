import { operatorWords } from '../messages/en/operators.ts'
import { textOf } from '../messages/phrases/fragment.ts'

/** The kind of value that an operator compares with. */
export type ValueKind =
  | 'none'
  | 'text'
  | 'list'
  | 'pattern'
  | 'number'
  | 'range'
  | 'time'
  | 'version'
  | 'versions'
  | 'types'
  | 'segments'
  | 'json'

const KINDS: readonly (readonly [ValueKind, RegExp])[] = [
  ['none', /^(not_)?exists$/],
  ['segments', /^(not_)?in_segment$/],
  ['pattern', /^(not_)?matches(_ci)?$/],
  ['number', /^(gte?|lte?|array_size)$/],
  ['range', /^between$/],
  ['time', /^(before|after)$/],
  ['versions', /^(not_)?semver_in$/],
  ['version', /^semver_/],
  ['types', /^is_type$/],
  ['json', /^(elem_match|in_bucket)$/],
  ['text', /^(eq|neq|eq_ci|str_[gl]te?|modulo)$/],
]

/** Returns the kind of value of an operator. Operators that are not listed compare with a list. */
export function valueKindOf(operator: string): ValueKind {
  if (!operatorWords.has(operator)) return 'text'
  return KINDS.find(([, pattern]) => pattern.test(operator))?.[0] ?? 'list'
}

/** Returns `true` if an operator reads an attribute of the context or names a flag. */
export function hasAttribute(operator: string): boolean {
  return valueKindOf(operator) !== 'segments'
}

/** Returns the other operator of a pair that differs in case. `undefined` if there is none. */
export function caseTwin(operator: string): string | undefined {
  const twin = operator.endsWith('_ci') ? operator.slice(0, -3) : `${operator}_ci`
  return operatorWords.has(twin) ? twin : undefined
}

/** Returns the words of an operator without attribute and value. */
export function operatorName(operator: string): string {
  const words = operatorWords.get(operator)?.[0]
  return words === undefined ? operator : textOf(words([], [])).trim()
}

/** An operator in the list of the condition editor. */
export interface OperatorOption {
  readonly id: string
  readonly name: string
}

/** The kinds that the values of an attribute can also have, the most similar first. */
const SIMILAR: Readonly<Record<string, readonly ValueKind[]>> = {
  text: ['text', 'list', 'pattern', 'none'],
  list: ['list', 'text', 'pattern', 'none'],
  pattern: ['pattern', 'text', 'list', 'none'],
  number: ['number', 'range', 'none', 'text'],
  range: ['range', 'number', 'none', 'text'],
  time: ['time', 'none', 'text'],
  version: ['version', 'versions', 'none', 'text'],
  versions: ['versions', 'version', 'none', 'text'],
}

/** The most frequent operators, which are listed first if the value is a text or a list. */
const FREQUENT = ['eq', 'neq', 'in', 'not_in', 'contains', 'starts_with', 'ends_with']

/**
 * Returns the operators, those for values of the same type as `operator` first. Of a pair that
 * differs in case, only one operator is listed.
 */
export function operatorOptions(operator: string): readonly OperatorOption[] {
  const similar = SIMILAR[valueKindOf(operator)] ?? [valueKindOf(operator), 'text', 'list', 'none']
  const isText = similar[0] === 'text' || similar[0] === 'list'
  const rank = (name: string) => {
    const frequent = isText ? FREQUENT.indexOf(name) : -1
    if (frequent !== -1) return frequent - FREQUENT.length
    const at = similar.indexOf(valueKindOf(name))
    return at === -1 ? similar.length : at
  }
  const listed = [...operatorWords.keys()].filter((name) => {
    return !name.endsWith('_ci') || caseTwin(name) === undefined
  })
  const sorted = [...listed].sort((one, other) => rank(one) - rank(other))
  return sorted.map((id) => ({ id, name: operatorName(id) }))
}
