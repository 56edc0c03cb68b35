import type { FlagSummary, PageOf } from '@ff/protocol/management'
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Api } from '../../api/api.ts'
import { FIRST_ROWS } from '../../first-requests/first-requests.ts'
import {
  type FlagSummaries,
  flagSummariesQuery,
  useFlagSummaries,
} from '../../queries/use-queries.ts'
import { useApi } from '../../session/use-session.ts'

/** The number of flags in each request after the first. */
export const PAGE_SIZE = 200

/** The list whose rows are shown, without its page. */
export type FlagList = FlagSummaries

/** Loads the first rows of a list. The previous list stays until they arrive. */
export function useFirstFlags({ projectId, query }: FlagList) {
  return useFlagSummaries(projectId, firstPage(query))
}

/** Returns the tags of the first rows, and a function that adds those of the first page. */
export function useTags(
  list: FlagList,
  first: PageOf<FlagSummary> | undefined,
): readonly [readonly string[], () => void] {
  const [isMoreWanted, setMoreWanted] = useState(false)
  const more = useQuery({ ...flagsQuery(useApi(), list, 1), enabled: isMoreWanted })
  const flags = more.data?.data ?? first?.data
  const tags = useMemo(() => tagsIn(flags ?? []), [flags])
  return [tags, () => setMoreWanted(true)]
}

function tagsIn(flags: readonly Pick<FlagSummary, 'tags'>[]): readonly string[] {
  return [...new Set(flags.flatMap(({ tags }) => tags))].toSorted()
}

/** The loaded rows of a list. */
export interface FlagRows {
  /** Returns the flag of a row; `undefined` while its page is loaded. */
  readonly at: (index: number) => FlagSummary | undefined
  readonly error: Error | null
  readonly retry: () => void
}

/** Loads the pages of the rows in view: one request for `PAGE_SIZE` rows after the first rows. */
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
    if (index < FIRST_ROWS) return first.data[index]
    return byPage.get(pageOfRow(index))?.data?.data[index % PAGE_SIZE]
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

/** Returns the numbers of the pages of rows, without the first rows, which are always loaded. */
export function pagesOf(indexes: readonly number[]): readonly number[] {
  return [...new Set(indexes.filter((index) => index >= FIRST_ROWS).map(pageOfRow))]
}

/** Returns the query for the first rows of a list. */
export function firstFlagsQuery(api: Api, { projectId, query }: FlagList) {
  return flagSummariesQuery(api, { projectId, query: firstPage(query) })
}

function firstPage(query: FlagList['query']): FlagList['query'] {
  return { ...query, page: 1, limit: FIRST_ROWS }
}

/** Returns the query for a page of a list. */
function flagsQuery(api: Api, { projectId, query }: FlagList, page: number) {
  return flagSummariesQuery(api, { projectId, query: { ...query, page, limit: PAGE_SIZE } })
}
