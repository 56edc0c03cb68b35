import type { AuditEvent, Environment, Version } from '@ff/protocol/management'
import { useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../queries/query-keys.ts'
import { useApi } from '../../session/use-session.ts'

const MOST_PAGES = 5
const PER_PAGE = 100

/**
 * Loads the audit entries of one page of versions, by their ids. Empty if the user may not read the
 * audit log.
 */
export function useAuditEntries(
  { id: environmentId, projectId }: Environment,
  versions: readonly Version[],
): ReadonlyMap<string, AuditEvent> {
  const api = useApi()
  const [from, to] = [versions.at(-1)?.publishedAt, versions[0]?.publishedAt]
  const { data } = useQuery({
    queryKey: [...queryKeys.project(projectId), 'auditEntries', environmentId, from, to],
    enabled: versions.length > 0,
    queryFn: async ({ signal }) => {
      const ids = new Set(versions.map(({ eventId }) => eventId))
      const entries = new Map<string, AuditEvent>()
      let after: string | undefined
      for (let page = 1; page <= MOST_PAGES; page += 1) {
        const filters = { projectId, fromDate: from, toDate: to, limit: PER_PAGE }
        const query = { ...filters, ...(after !== undefined && { after }) }
        const { data: found, next } = (await api.call('listAuditLog', { query, signal })).data
        for (const entry of found) if (ids.has(entry.id)) entries.set(entry.id, entry)
        after = next
        if (after === undefined) break
      }
      return entries
    },
  })
  return data ?? new Map()
}
