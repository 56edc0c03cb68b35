import type { ProjectEvent } from '@ff/protocol/management'
import { type QueryClient, skipToken, useQuery } from '@tanstack/react-query'
import { queryKeys } from '../queries/query-keys.ts'

/** Who has deleted a record that was open, and when this page has heard of it. */
export interface Deletion {
  readonly name: string
  /** The time in ISO 8601. */
  readonly at: string
}

/** Remembers who has deleted the records of an event, if it is about a deletion. */
export function rememberDeletion(queryClient: QueryClient, event: ProjectEvent): void {
  if (event.event !== 'version' && event.event !== 'project') return
  const { eventType, actor } = event.data
  if (!eventType.endsWith('.deleted')) return
  const deletion: Deletion = { name: actor.name, at: new Date().toISOString() }
  for (const id of idsOf(event)) queryClient.setQueryData(queryKeys.deletion(id), deletion)
}

function idsOf(event: Extract<ProjectEvent, { event: 'version' | 'project' }>): readonly string[] {
  if (event.event === 'project') return [event.data.id]
  const { eventType, environmentId, flags, segments } = event.data
  switch (eventType) {
    case 'flag.deleted':
      return flags
    case 'segment.deleted':
      return segments
    case 'environment.deleted':
      return [environmentId]
    default:
      return []
  }
}

/** Returns who has deleted a record while this page was open; `undefined` if that is not known. */
export function useDeletion(recordId: string | undefined): Deletion | undefined {
  const { data } = useQuery<Deletion>({
    queryKey: queryKeys.deletion(recordId ?? ''),
    queryFn: skipToken,
  })
  return data
}
