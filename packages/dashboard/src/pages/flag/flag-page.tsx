import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { usePageTitle } from '../../components/page.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { messages } from '../../messages/messages.ts'
import { useFlag, useProject } from '../../queries/use-queries.ts'
import { useChangedFlags, useChangedPlaces } from '../../user-drafts/use-user-drafts.ts'
import { EnvironmentTabs } from './environment-tabs.tsx'
import { FlagHeading } from './flag-heading.tsx'
import styles from './flag-page.module.css'

/** The page of a flag: its name, one tab for each environment, and within it one for each subject. */
export function FlagPage() {
  const params = useParams({ from: '/layout/p/$project/flags/$flag' })
  const { env, tab = 'targeting' } = useSearch({ from: '/layout/p/$project/flags/$flag' })
  const navigate = useNavigate({ from: '/p/$project/flags/$flag' })
  const flag = useFlag(params.project, params.flag)
  const project = useProject(params.project)
  const loaded = flag.data?.data
  const changed = [...useChangedPlaces().map(({ flagId }) => flagId), ...useChangedFlags()]
  const hasDraft = loaded !== undefined && changed.includes(loaded.id)
  const title = loaded?.name ?? messages.flag.title
  usePageTitle(hasDraft ? messages.shell.changedTitle(title) : title)
  if (loaded === undefined || project.data === undefined) {
    const retry = () => void Promise.all([flag.refetch(), project.refetch()])
    return <NotLoaded error={flag.error ?? project.error} onRetry={retry} />
  }
  const { environments } = project.data
  const environment =
    environments.find(({ key }) => key === env) ??
    environments.find(({ isProduction }) => isProduction) ??
    environments[0]
  return (
    <div className={styles.page}>
      <FlagHeading flag={loaded} />
      {environment === undefined ? (
        <p>{messages.flag.noEnvironments}</p>
      ) : (
        <EnvironmentTabs
          flag={loaded}
          flagEtag={flag.data?.etag}
          environments={environments}
          environment={environment}
          tab={tab}
          onChoose={(search) => navigate({ search: { env: environment.key, tab, ...search } })}
        />
      )}
    </div>
  )
}

interface NotLoadedProps {
  readonly error: Error | null
  readonly onRetry: () => void
}

function NotLoaded({ error, onRetry }: NotLoadedProps) {
  const { errors, flag } = messages
  return (
    <div className={styles.page}>
      <h1>{flag.title}</h1>
      {error === null ? (
        <Skeleton />
      ) : (
        <ErrorState title={errors.loadFailed(flag.title)} error={error} onRetry={onRetry} />
      )}
    </div>
  )
}
