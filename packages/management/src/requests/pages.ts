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

/** Returns a page with the cursor of the next one, if there is one. */
export function toCursorPage<T>(
  found: { readonly data: readonly T[]; readonly total: number },
  paging: Paging,
  { name, positionOf, hasNext }: CursorOrder<T> & { readonly hasNext: boolean },
): PageOf<T> {
  const last = found.data.at(-1)
  const next = last && hasNext ? { next: toCursor(name, positionOf(last)) } : {}
  return { ...toPage(found, paging), ...next }
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
  const list: ListQuery<K> = {
    ...filters,
    ...(search !== undefined && { search }),
    sort: { field: sortBy, direction },
  }
  if (!hasCursors) return toPage(await reader.list(kind, { ...list, page, limit }), query)
  const after = startOf(query, order)
  const start = after === undefined ? { page, limit } : { after, limit }
  const found = await reader.list(kind, { ...list, ...start })
  // The total was counted at another moment, so it does not show whether there is a next page.
  const last = found.data.length === limit ? found.data.at(-1) : undefined
  const rest = last && { ...list, after: order.positionOf(last), limit: 1, isCounted: false }
  const hasNext = rest !== undefined && (await reader.list(kind, rest)).data.length > 0
  return toCursorPage(found, query, { ...order, hasNext })
}
