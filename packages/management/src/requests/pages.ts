import type { PageOf } from '@ff/protocol/management'
import type { Kind, ListQuery, Records, StorageSession } from '@ff/storage'
import { type CursorPosition, fromCursor, toCursor } from './cursors.ts'
import { invalid } from './validation.ts'

const DEFAULT_LIMIT = 50

/** The requested page of a list. */
export interface Paging {
  /** The number of the page, from 1. */
  readonly page?: number | undefined
  /** The maximum number of entries on a page. */
  readonly limit?: number | undefined
  /** The cursor of the page, in a list with cursors. */
  readonly after?: string | undefined
}

/** The order of a list with cursors. */
export interface CursorOrder<T> {
  /** The name of the list and its order. A cursor is accepted only for the same name. */
  readonly name: string
  /** Returns the position behind an entry. */
  readonly positionOf: (entry: T) => CursorPosition
}

/** Returns page and limit; the defaults are page 1 and 50 entries. */
export function pagingOf({ page = 1, limit = DEFAULT_LIMIT }: Paging) {
  return { page, limit }
}

/**
 * Returns the position of the cursor of a page; `undefined` for a page with a number. Throws
 * `INVALID_REQUEST` if the cursor is not one of this order, or the page has a number too.
 */
export function startOf<T>(
  { page, after }: Paging,
  { name }: CursorOrder<T>,
): CursorPosition | undefined {
  if (after === undefined) return undefined
  if (page !== undefined) throw invalid('page', 'must be absent if there is `after`')
  return fromCursor(name, after)
}

/**
 * Returns a page with the cursor of the next one, if there is one. The page of a cursor is read with
 * one entry more than its limit, which shows whether there is a next page.
 */
export function toCursorPage<T>(
  { data: read, total }: { readonly data: readonly T[]; readonly total: number },
  paging: Paging,
  order: CursorOrder<T>,
): PageOf<T> {
  const { page, limit } = pagingOf(paging)
  const data = read.slice(0, limit)
  const last = data.at(-1)
  const hasNext = paging.after === undefined ? page * limit < total : read.length > limit
  const next = last && hasNext ? { next: toCursor(order.name, order.positionOf(last)) } : {}
  return { ...toPage({ data, total }, paging), ...next }
}

/** Returns a page with `data`, which the store has already limited to the requested page. */
export function toPage<T>(
  { data, total }: { readonly data: readonly T[]; readonly total: number },
  paging: Paging,
): PageOf<T> {
  const { page, limit } = pagingOf(paging)
  return { data, meta: { total, page, pageCount: Math.ceil(total / limit) } }
}

/** Returns one page of a complete list. */
export function cutPage<T>(all: readonly T[], paging: Paging): PageOf<T> {
  const { page, limit } = pagingOf(paging)
  const data = all.slice((page - 1) * limit, page * limit)
  return toPage({ data, total: all.length }, paging)
}

interface PageQuery<K extends Kind> extends Pick<ListQuery<K>, 'where' | 'range' | 'contains'> {
  /** The sort field. In a list with cursors, it is a text in every record. */
  readonly sortBy: NonNullable<ListQuery<K>['sort']>['field']
  /** The sort direction; ascending by default. */
  readonly direction?: 'asc' | 'desc'
  /** `true` if the list has cursors. */
  readonly hasCursors?: true
  /** The query of the request. */
  readonly query: Paging & { readonly search?: string | undefined }
}

/** Reads one page of the records of a kind. */
export async function listPage<K extends Kind>(
  reader: Pick<StorageSession, 'list'>,
  kind: K,
  { sortBy, direction = 'asc', hasCursors, query, ...filters }: PageQuery<K>,
): Promise<PageOf<Records[K]>> {
  const { search } = query
  const order: CursorOrder<Records[K]> = {
    name: `${kind} ${sortBy} ${direction}`,
    positionOf: (record) => ({ value: String(record[sortBy]), id: record.id }),
  }
  const { page, limit } = pagingOf(query)
  const after = startOf(query, order)
  const found = await reader.list(kind, {
    ...filters,
    ...(search !== undefined && { search }),
    sort: { field: sortBy, direction },
    ...(after === undefined ? { page, limit } : { after, limit: limit + 1 }),
  })
  return hasCursors ? toCursorPage(found, query, order) : toPage(found, query)
}
