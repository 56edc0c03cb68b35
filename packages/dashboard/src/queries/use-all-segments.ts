import type { Segment } from '@ff/protocol/management'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../session/use-session.ts'
import { queryKeys } from './query-keys.ts'

const MOST_PAGES = 20

/** Loads the segments of a project, at most 2,000 of them, for names and choices. */
export function useAllSegments(projectId: string) {
  const api = useApi()
  return useQuery({
    queryKey: [...queryKeys.segments(projectId), 'all'],
    queryFn: async ({ signal }) => {
      const segments: Segment[] = []
      for (let page = 1; page <= MOST_PAGES; page += 1) {
        const query = { page, limit: 100 }
        const input = { params: { projectId }, query, signal }
        const { data, meta } = (await api.call('listSegments', input)).data
        segments.push(...data)
        if (page >= meta.pageCount) break
      }
      return segments
    },
  })
}
