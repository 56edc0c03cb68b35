import type { ProjectView } from '@ff/protocol/management'
import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { affectedKeys, keysWithoutVersion } from '../live/affected-keys.ts'
import { rememberDeletion } from '../live/deletions.ts'
import { LiveConnection } from '../live/live-connection.ts'
import { type ProjectEventListener, ProjectEventsContext } from '../live/use-project-events.ts'
import { VersionPoll } from '../live/version-poll.ts'
import { queryKeys } from '../queries/query-keys.ts'
import { useApi } from '../session/use-session.ts'

/** Keeps the data of the open project current, and passes its events to `useProjectEvents`. */
export function ProjectEvents({ children }: { readonly children: ReactNode }) {
  const { project } = useParams({ strict: false })
  const [listeners] = useState(() => new Set<ProjectEventListener>())
  const queryClient = useQueryClient()
  const api = useApi()
  useEffect(() => {
    if (project === undefined) return
    const reload = () =>
      void queryClient.invalidateQueries({ queryKey: queryKeys.project(project) })
    const environmentIds = () => {
      const record = queryClient.getQueryData<ProjectView>(queryKeys.projectRecord(project))
      return record?.environments.map(({ id }) => id) ?? []
    }
    const invalidate = (keys: readonly QueryKey[]) => {
      for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey })
    }
    const poll = new VersionPoll({
      ...{ api, projectId: project, environmentIds },
      onChange: reload,
      onUnchanged: () => invalidate(keysWithoutVersion(project)),
    })
    const connection = new LiveConnection({
      api,
      projectId: project,
      onEvent: (event) => {
        rememberDeletion(queryClient, event)
        invalidate(affectedKeys(project, event))
        for (const listener of listeners) listener(event)
      },
      onReload: reload,
      onStream: (isOpen) => (isOpen ? poll.stop() : poll.start()),
    })
    void connection.run()
    return () => {
      connection.close()
      poll.stop()
    }
  }, [project, api, queryClient, listeners])
  return <ProjectEventsContext value={listeners}>{children}</ProjectEventsContext>
}
