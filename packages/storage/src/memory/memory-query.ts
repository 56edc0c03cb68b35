import { compareCodePoints } from '@ff/core'
import { KIND_RULES, type Kind, type Records } from '../ports/records.ts'
import type { ListPosition, ListQuery, Page } from '../ports/storage.ts'

/** Returns the page that a query selects from these living records. */
export function pageOf<K extends Kind>(
  kind: K,
  living: readonly Records[K][],
  query: ListQuery<K>,
): Page<Records[K]> {
  const { page = 1, limit, isCounted = true, sort, after } = query
  const matching = living.filter((record) => matches(kind, record, query))
  const total = matching.length
  const isLater = (record: Records[K]) =>
    after === undefined || comparePositions(positionOf(record, sort), after, sort) > 0
  const sorted = matching
    .filter(isLater)
    .sort((a, b) => comparePositions(positionOf(a, sort), positionOf(b, sort), sort))
  if (limit === undefined) return { data: sorted, total: sorted.length }
  const data = sorted.slice((page - 1) * limit, page * limit)
  return { data, total: isCounted ? total : data.length }
}

/** Returns `true` if the record is not deleted. */
export function isLiving(record: object): boolean {
  return (fieldOf(record, 'deletedAt') ?? null) === null
}

/** Returns the value of an own property of the record, or `undefined` if it has none. */
export function fieldOf(record: object, field: string): unknown {
  return Object.hasOwn(record, field) ? Reflect.get(record, field) : undefined
}

/** Returns `true` if a living or deleted record matches the conditions of the query. */
export function matches<K extends Kind>(kind: K, record: Records[K], query: ListQuery<K>): boolean {
  const { where = {}, range, search, contains = {} } = query
  for (const [field, expected] of Object.entries(where)) {
    if (expected !== undefined && fieldOf(record, field) !== expected) return false
  }
  if (range !== undefined && !isInRange(fieldOf(record, range.field), range)) return false
  if (search !== undefined && !isFound(kind, record, search)) return false
  return Object.entries<readonly string[] | undefined>(contains).every(([field, elements = []]) =>
    containsAll(fieldOf(record, field), elements),
  )
}

/** Returns `true` if both records have the same value of a unique key of their kind. */
export function haveEqualKeys<K extends Kind>(kind: K, a: Records[K], b: Records[K]): boolean {
  return KIND_RULES[kind].unique.some((fields) =>
    fields.every((field) => fieldOf(a, field) === fieldOf(b, field)),
  )
}

function isInRange(value: unknown, { from, to }: { from?: string; to?: string }): boolean {
  if (from === undefined && to === undefined) return true
  if (typeof value !== 'string') return false
  if (from !== undefined && compareCodePoints(value, from) < 0) return false
  return to === undefined || compareCodePoints(value, to) < 0
}

function isFound<K extends Kind>(kind: K, record: Records[K], search: string): boolean {
  const wanted = toAsciiLowerCase(search)
  return KIND_RULES[kind].searchable.some((field) => {
    const value = fieldOf(record, field)
    return typeof value === 'string' && toAsciiLowerCase(value).includes(wanted)
  })
}

function containsAll(array: unknown, elements: readonly string[]): boolean {
  return Array.isArray(array) && elements.every((element) => array.includes(element))
}

function toAsciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

type Sort = { readonly field: string; readonly direction: 'asc' | 'desc' } | undefined
type Position = { readonly [F in keyof ListPosition]: F extends 'id' ? string : unknown }

function positionOf(record: { readonly id: string }, sort: Sort): Position {
  return { value: sort && fieldOf(record, sort.field), id: record.id }
}

function comparePositions(a: Position, b: Position, sort: Sort): number {
  const order = sort === undefined ? 0 : compareValues(a.value, b.value)
  if (order === 0) return compareCodePoints(a.id, b.id)
  return sort?.direction === 'desc' ? -order : order
}

function compareValues(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null)
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b)
  return Number(a) - Number(b)
}
