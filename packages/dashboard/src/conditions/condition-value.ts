import { listOf } from '../draft/sentence.ts'
import { conditions as texts } from '../messages/en/conditions.ts'
import { type ValueKind, valueKindOf } from './operator-kind.ts'

/** Returns the text of a list in a text area: one item per line. */
export function linesOf(value: string): string {
  return value === '' ? '' : listOf(value).join('\n')
}

/** Returns the value of a list from lines. Empty lines and repeated items are left out. */
export function listFromLines(text: string): string {
  const items = text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return items.length === 0 ? '' : JSON.stringify([...new Set(items)])
}

/** Returns `true` if lines can show a list without a loss. */
export function fitsLines(value: string): boolean {
  const items = value === '' ? [] : listOf(value)
  return items.every((item) => item !== '' && item === item.trim() && !/[\r\n]/.test(item))
}

/** Returns the limits of a range. A limit is empty if it is missing. */
export function rangeOf(value: string): readonly [string, string] {
  const [low = '', high = ''] = value.trimStart().startsWith('[') ? listOf(value) : []
  return [low, high]
}

/** Returns the value of a range from its limits. */
export function rangeFrom(low: string, high: string): string {
  if (low.trim() === '' && high.trim() === '') return ''
  const limit = (text: string) => (isNumber(text) ? Number(text) : text)
  return JSON.stringify([limit(low), limit(high)])
}

/** Returns the value for another operator, as far as it fits. */
export function valueFor(operator: string, before: string, value: string): string {
  const [from, to] = [valueKindOf(before), valueKindOf(operator)]
  if (from === to) return value
  if (to === 'none' || to === 'segments' || from === 'segments' || to === 'types') return ''
  const [first = ''] = isList(from) ? listOf(value) : [value]
  if (isList(to)) return isList(from) ? value : listFromLines(first)
  if (to === 'number' || to === 'time' || to === 'range') return ''
  return from === 'range' ? '' : first
}

/** The values that a change of the operator has replaced, by the kind of the operator before. */
export type ReplacedValues = ReadonlyMap<ValueKind, { readonly value: string; readonly by: string }>

/** A condition with another operator, and the values that it had before. */
export interface OperatorChange {
  readonly value: string
  readonly replaced: ReplacedValues
}

/**
 * Returns the value for another operator. A value that an earlier change has replaced comes back if
 * its replacement has not been edited.
 */
export function changeOperator(
  operator: string,
  before: { readonly operator: string; readonly value: string },
  replaced: ReplacedValues,
): OperatorChange {
  const [from, to] = [valueKindOf(before.operator), valueKindOf(operator)]
  if (from === to) return { value: before.value, replaced }
  const earlier = replaced.get(to)
  const isBack = earlier !== undefined && earlier.by === before.value
  const value = isBack ? earlier.value : valueFor(operator, before.operator, before.value)
  return { value, replaced: new Map(replaced).set(from, { value: before.value, by: value }) }
}

function isList(kind: ValueKind): boolean {
  return kind === 'list' || kind === 'versions'
}

const { faults } = texts
const VERSION = /^[vV]?\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/

/** Returns the fault of a value that the browser can find. `undefined` if there is none. */
export function valueFault(operator: string, value: string): string | undefined {
  const kind = valueKindOf(operator)
  if (value === '') return undefined
  switch (kind) {
    case 'number':
      return operator === 'array_size' && value.trimStart().startsWith('{')
        ? jsonFault(value)
        : numberFault(value)
    case 'range':
      return rangeFault(rangeOf(value))
    case 'time':
      return Number.isFinite(Date.parse(value)) || isNumber(value) ? undefined : faults.time
    case 'version':
      return VERSION.test(value) ? undefined : faults.version
    case 'versions':
      return listOf(value).every((each) => VERSION.test(each)) ? undefined : faults.version
    case 'pattern':
      return patternFault(value)
    case 'json':
      return jsonFault(value)
    default:
      return undefined
  }
}

function isNumber(text: string): boolean {
  return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text)
}

function numberFault(text: string): string | undefined {
  if (!isNumber(text)) return faults.number
  return Number.isInteger(Number(text)) && !Number.isSafeInteger(Number(text))
    ? faults.inexact
    : undefined
}

function rangeFault([low, high]: readonly [string, string]): string | undefined {
  const fault = numberFault(low) ?? numberFault(high)
  return fault ?? (Number(low) > Number(high) ? faults.range : undefined)
}

/** Returns the fault of a pattern. The server checks what RE2 and the browser read differently. */
function patternFault(pattern: string): string | undefined {
  if (pattern.length > 1000) return faults.longPattern
  if (/\(\?<?[=!]/.test(pattern)) return faults.lookAround
  if (/(^|[^\\])(\\\\)*\\[1-9]/.test(pattern)) return faults.backReference
  const others = pattern.replace(/^\(\?[ims]+\)/, '').replaceAll('(?P<', '(?<')
  if (/\(\?(?![:<])/.test(others)) return undefined
  try {
    new RegExp(others)
    return undefined
  } catch {
    return faults.pattern
  }
}

function jsonFault(value: string): string | undefined {
  try {
    JSON.parse(value)
    return undefined
  } catch {
    return faults.json
  }
}
