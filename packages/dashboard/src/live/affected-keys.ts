import type { ProjectEvent } from '@ff/protocol/management'
import type { QueryKey } from '@tanstack/react-query'
import { queryKeys } from '../queries/query-keys.ts'

/** Returns the keys of the queries whose data an event can change. */
export function affectedKeys(projectId: string, event: ProjectEvent): readonly QueryKey[] {
  switch (event.event) {
    case 'version':
      return keysOfVersion(projectId, event.data)
    case 'project':
      return keysOfRecord(projectId, event.data)
    case 'convergence':
      return [queryKeys.convergence(projectId, event.data.environmentId)]
    case 'position':
      return []
    default:
      return [queryKeys.project(projectId)]
  }
}

/** Returns the keys of the queries whose data can change without a version, such as names. */
export function keysWithoutVersion(projectId: string): readonly QueryKey[] {
  return [
    queryKeys.configurations(projectId),
    queryKeys.flags(projectId),
    queryKeys.segments(projectId),
    queryKeys.segmentRecords(projectId),
  ]
}

type DataOf<Name extends ProjectEvent['event']> = Extract<ProjectEvent, { event: Name }>['data']

function keysOfVersion(
  projectId: string,
  { environmentId, flags, segments }: DataOf<'version'>,
): readonly QueryKey[] {
  return [
    queryKeys.flagSummaries(projectId),
    queryKeys.versions(projectId, environmentId),
    queryKeys.evaluation(projectId, environmentId),
    queryKeys.convergence(projectId, environmentId),
    ...flags.map((id) => queryKeys.configuration(projectId, environmentId, id)),
    // An address can name a flag or a segment by its key.
    ...(flags.length > 0 ? [queryKeys.flags(projectId)] : []),
    ...(segments.length > 0
      ? [queryKeys.segments(projectId), queryKeys.segmentRecords(projectId)]
      : []),
  ]
}

function keysOfRecord(projectId: string, { eventType }: DataOf<'project'>): readonly QueryKey[] {
  switch (eventType.split('.')[0]) {
    case 'flag':
      return [
        queryKeys.flagSummaries(projectId),
        queryKeys.flags(projectId),
        // A change of a name in a configuration makes no version.
        queryKeys.configurations(projectId),
      ]
    case 'segment':
      return [queryKeys.segments(projectId), queryKeys.segmentRecords(projectId)]
    case 'sdk_key':
      return [['project', projectId, 'sdkKeys']]
    default:
      // The id of another record does not name the query that contains it.
      return [queryKeys.project(projectId)]
  }
}
