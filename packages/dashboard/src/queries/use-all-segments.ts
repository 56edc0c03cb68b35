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
      let after: string | undefined
      for (let page = 1; page <= MOST_PAGES; page += 1) {
        const query = { limit: 100, ...(after !== undefined && { after }) }
        const input = { params: { projectId }, query, signal }
        const { data, next } = (await api.call('listSegments', input)).data
        segments.push(...data)
        after = next
        if (after === undefined) break
      }
      return segments
    },
  })
}
