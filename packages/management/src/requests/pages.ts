import type { PageOf } from '@ff/protocol/management'

const DEFAULT_LIMIT = 50

/** The requested part of a list. */
export interface Paging {
  /** From 1. */
  readonly page?: number | undefined
  readonly limit?: number | undefined
}

/** Page and limit with the defaults filled in. */
export function pagingOf({ page = 1, limit = DEFAULT_LIMIT }: Paging) {
  return { page, limit }
}

/** One page that the store has cut out already. */
export function toPage<T>(
  { data, total }: { readonly data: readonly T[]; readonly total: number },
  paging: Paging,
): PageOf<T> {
  const { page, limit } = pagingOf(paging)
  return { data, meta: { total, page, pageCount: Math.ceil(total / limit) } }
}

/** Cuts one page out of a whole list. */
export function cutPage<T>(all: readonly T[], paging: Paging): PageOf<T> {
  const { page, limit } = pagingOf(paging)
  const data = all.slice((page - 1) * limit, page * limit)
  return toPage({ data, total: all.length }, paging)
}
