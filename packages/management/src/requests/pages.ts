import type { PageOf } from '@ff/protocol/management'
import type { Kind, ListQuery, Records, StorageSession } from '@ff/storage'

const DEFAULT_LIMIT = 50

/** The requested page of a list. */
export interface Paging {
  /** The number of the page, from 1. */
  readonly page?: number | undefined
  /** The maximum number of entries on a page. */
  readonly limit?: number | undefined
}

/** Returns page and limit; the defaults are page 1 and 50 entries. */
export function pagingOf({ page = 1, limit = DEFAULT_LIMIT }: Paging) {
  return { page, limit }
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
  readonly sortBy: NonNullable<ListQuery<K>['sort']>['field']
  /** The sort direction; ascending by default. */
  readonly direction?: 'asc' | 'desc'
  /** The query of the request. */
  readonly query: Paging & { readonly search?: string | undefined }
}

/** Reads one page of the records of a kind. */
export async function listPage<K extends Kind>(
  reader: Pick<StorageSession, 'list'>,
  kind: K,
  { sortBy, direction = 'asc', query, ...filters }: PageQuery<K>,
): Promise<PageOf<Records[K]>> {
  const { search } = query
  const found = await reader.list(kind, {
    ...filters,
    ...(search !== undefined && { search }),
    sort: { field: sortBy, direction },
    ...pagingOf(query),
  })
  return toPage(found, query)
}
