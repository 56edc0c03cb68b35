import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { ApiError, isMissing } from '../api/api-error.ts'
import { Gone } from '../components/gone.tsx'
import { Skeleton } from '../components/states.tsx'
import { useDeletion } from '../live/deletions.ts'
import { gone as texts } from '../messages/en/errors.ts'
import { NotFoundPage } from '../pages/not-found-page.tsx'
import { queryKeys } from '../queries/query-keys.ts'
import { useProject } from '../queries/use-queries.ts'
import { useSession, useSessionState } from '../session/use-session.ts'
import styles from './layout.module.css'

/**
 * Shows the pages of a project to which the user has access. If the project belongs to another
 * organization of the user, that organization is selected.
 */
export function ProjectGate({ children }: { readonly children: ReactNode }) {
  const { project = '' } = useParams({ strict: false })
  const { isError, error, data } = useProject(project)
  const isUnknown = isError && isMissing(error)
  const deletion = useDeletion(data?.id)
  const search = useOrganizationSearch(project, isUnknown && deletion === undefined)
  useOrganizationOf(data?.orgId)
  if (!isUnknown) return children
  if (deletion !== undefined) return <Gone title={texts.project} recordId={data?.id} />
  if (search === 'none') return <NotFoundPage />
  return (
    <div className={styles.search}>
      <Skeleton />
    </div>
  )
}

/** Selects the organization of a project for the role `platform`, which needs none to read it. */
function useOrganizationOf(projectOrganization: string | undefined): void {
  const session = useSession()
  const { organizationId } = useSessionState()
  useEffect(() => {
    if (projectOrganization === undefined || organizationId !== null) return
    // The page also works without; only the list of projects is then missing.
    session.selectOrganization(projectOrganization).catch(() => undefined)
  }, [projectOrganization, organizationId, session])
}

/** Selects the organization of a project that the selected organization does not have. */
function useOrganizationSearch(project: string, isEnabled: boolean): 'searching' | 'none' {
  const session = useSession()
  const queryClient = useQueryClient()
  const { logIn, organizationId } = useSessionState()
  const others = logIn?.memberships.filter(({ orgId }) => orgId !== organizationId) ?? []
  const found = useQuery({
    queryKey: [...queryKeys.projectOrganization(project), organizationId],
    enabled: isEnabled && others.length > 0,
    queryFn: async () => {
      for (const { orgId } of others) if (await hasProject(orgId)) return orgId
      return null
    },
  })
  const hasProject = async (organization: string) => {
    try {
      const input = { params: { projectId: project }, organizationId: organization }
      await session.api.call('getProject', input)
      return true
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return false
      throw error
    }
  }
  const organization = isEnabled ? found.data : undefined
  useEffect(() => {
    if (organization == null) return
    const select = async () => {
      await session.selectOrganization(organization)
      await queryClient.resetQueries({ queryKey: queryKeys.project(project) })
    }
    void select()
  }, [organization, session, queryClient, project])
  const isFinished = others.length === 0 || found.data === null || found.isError
  return isFinished ? 'none' : 'searching'
}
