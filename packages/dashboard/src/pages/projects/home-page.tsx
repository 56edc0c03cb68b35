import { Link, Navigate } from '@tanstack/react-router'
import { Page } from '../../components/page.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { readLastProject } from '../../layout/last-project.ts'
import { messages } from '../../messages/messages.ts'
import { useProjects } from '../../queries/use-queries.ts'
import { useMay, useSessionState } from '../../session/use-session.ts'
import { OrganizationChoice } from './organization-choice.tsx'
import styles from './projects.module.css'

/** The last project; otherwise the choice of a project; otherwise the creation of the first. */
export function HomePage() {
  const { organizationId, logIn } = useSessionState()
  const projects = useProjects()
  const shell = messages.shell
  const errors = messages.errors
  if (organizationId === null) return <OrganizationChoice />
  if (projects.isError) {
    const title = errors.loadFailed(shell.projects)
    return (
      <Page title={shell.chooseProject}>
        <ErrorState title={title} error={projects.error} onRetry={() => projects.refetch()} />
      </Page>
    )
  }
  if (projects.data === undefined) {
    return (
      <Page title={shell.chooseProject}>
        <Skeleton />
      </Page>
    )
  }
  const lastId = readLastProject(logIn?.user.id ?? '')
  const last = projects.data.find(({ id }) => id === lastId)
  const chosen = last ?? (projects.data.length === 1 ? projects.data[0] : undefined)
  if (chosen !== undefined) {
    return <Navigate to="/p/$project/flags" params={{ project: chosen.id }} replace />
  }
  return (
    <Page title={shell.chooseProject}>
      {projects.data.length === 0 ? <NoProjects /> : <ProjectList projects={projects.data} />}
    </Page>
  )
}

function NoProjects() {
  const may = useMay('projects.write')
  const shell = messages.shell
  const create = may.allowed ? (
    <Link to="/projects/new">{shell.createFirstProject}</Link>
  ) : (
    <p>{may.reason}</p>
  )
  return <EmptyState sentence={shell.noProjects} action={create} />
}

interface ProjectListProps {
  readonly projects: readonly { readonly id: string; readonly name: string }[]
}

function ProjectList({ projects }: ProjectListProps) {
  return (
    <ul className={styles.list}>
      {projects.map(({ id, name }) => (
        <li key={id}>
          <Link to="/p/$project/flags" params={{ project: id }} className={styles.item}>
            <bdi>{name}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  )
}
