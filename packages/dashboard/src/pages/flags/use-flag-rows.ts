import type { FlagSummary, PageOf } from '@ff/protocol/management'
import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import type { Api } from '../../api/api.ts'
import {
  type FlagSummaries,
  flagSummariesQuery,
  useFlagSummaries,
} from '../../queries/use-queries.ts'
import { useApi } from '../../session/use-session.ts'

/** The number of flags in one request. */
export const PAGE_SIZE = 200

/** The list whose rows are shown, without its page. */
export type FlagList = FlagSummaries

/** Loads the first page of a list. The previous list stays until it arrives. */
export function useFirstFlags({ projectId, query }: FlagList) {
  return useFlagSummaries(projectId, { ...query, page: 1, limit: PAGE_SIZE })
}

/** The loaded rows of a list. */
export interface FlagRows {
  /** Returns the flag of a row; `undefined` while its page is loaded. */
  readonly at: (index: number) => FlagSummary | undefined
  readonly error: Error | null
  readonly retry: () => void
}

/** Loads the pages of the rows that are in view: one request for `PAGE_SIZE` rows. */
export function useFlagRows(
  list: FlagList,
  first: PageOf<FlagSummary>,
  indexes: readonly number[],
): FlagRows {
  const api = useApi()
  const pages = pagesOf(indexes)
  const results = useQueries({ queries: pages.map((page) => flagsQuery(api, list, page)) })
  const byPage = new Map<number, UseQueryResult<PageOf<FlagSummary>>>()
  for (const [position, page] of pages.entries()) {
    const result = results[position]
    if (result !== undefined) byPage.set(page, result)
  }
  const at = (index: number) => {
    const page = pageOfRow(index)
    const loaded = page === 1 ? first : byPage.get(page)?.data
    return loaded?.data[index % PAGE_SIZE]
  }
  const failed = results.filter(({ error }) => error !== null)
  const retry = () => {
    for (const { refetch } of failed) void refetch()
  }
  return { at, error: failed[0]?.error ?? null, retry }
}

function pageOfRow(index: number): number {
  return Math.floor(index / PAGE_SIZE) + 1
}

/** Returns the numbers of the pages of rows, without the first page, which is always loaded. */
export function pagesOf(indexes: readonly number[]): readonly number[] {
  return [...new Set(indexes.map(pageOfRow))].filter((page) => page > 1)
}

/** Returns the query for a page of a list. */
export function flagsQuery(api: Api, { projectId, query }: FlagList, page: number) {
  return flagSummariesQuery(api, { projectId, query: { ...query, page, limit: PAGE_SIZE } })
}
