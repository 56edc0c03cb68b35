import { compareCodePoints } from '@ff/core'
import { KIND_RULES, type Kind, type Records } from '../ports/records.ts'
import type { ListQuery, Page } from '../ports/storage.ts'

/** Returns the page that a query selects from these living records. */
export function pageOf<K extends Kind>(
  kind: K,
  living: readonly Records[K][],
  query: ListQuery<K>,
): Page<Records[K]> {
  const matching = living.filter((record) => matches(kind, record, query))
  matching.sort((a, b) => compareRecords(a, b, query.sort))
  const total = matching.length
  const { page = 1, limit, isCounted = true } = query
  if (limit === undefined) return { data: matching, total }
  const data = matching.slice((page - 1) * limit, page * limit)
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

function compareRecords<K extends Kind>(
  a: Records[K],
  b: Records[K],
  sort: ListQuery<K>['sort'],
): number {
  if (sort !== undefined) {
    const order = compareValues(fieldOf(a, sort.field), fieldOf(b, sort.field))
    if (order !== 0) return sort.direction === 'asc' ? order : -order
  }
  return compareCodePoints(a.id, b.id)
}

function compareValues(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null)
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b)
  return Number(a) - Number(b)
}
