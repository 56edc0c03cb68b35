import type { FlagView } from '@ff/protocol/management'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { isMissing } from '../../api/api-error.ts'
import { Gone } from '../../components/gone.tsx'
import { usePageTitle } from '../../components/page.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { gone as texts } from '../../messages/en/errors.ts'
import { messages } from '../../messages/messages.ts'
import { useEnvironment } from '../../queries/use-environment.ts'
import { useFlag, useProject } from '../../queries/use-queries.ts'
import {
  useChangedFlags,
  useChangedPlaces,
  useUserDrafts,
} from '../../user-drafts/use-user-drafts.ts'
import { EnvironmentTabs } from './environment-tabs.tsx'
import { FlagHeading } from './flag-heading.tsx'
import styles from './flag-page.module.css'

/** The page of a flag: its name, one tab for each environment, and within it one for each subject. */
export function FlagPage() {
  const params = useParams({ from: '/layout/p/$project/flags/$flag' })
  const { tab = 'targeting' } = useSearch({ from: '/layout/p/$project/flags/$flag' })
  const navigate = useNavigate({ from: '/p/$project/flags/$flag' })
  const flag = useFlag(params.project, params.flag)
  const project = useProject(params.project)
  const loaded = flag.data?.data
  const changed = [...useChangedPlaces().map(({ flagId }) => flagId), ...useChangedFlags()]
  const hasDraft = loaded !== undefined && changed.includes(loaded.id)
  const { environment, environments } = useEnvironment()
  const title = loaded?.name ?? messages.flag.title
  usePageTitle(hasDraft ? messages.shell.changedTitle(title) : title)
  if (loaded === undefined || project.data === undefined) {
    const retry = () => void Promise.all([flag.refetch(), project.refetch()])
    return <NotLoaded error={flag.error ?? project.error} onRetry={retry} />
  }
  if (isMissing(flag.error)) return <GoneFlag flag={loaded} />
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

/** The page of a flag that was deleted while it was open. */
function GoneFlag({ flag: { id, projectId, name } }: { readonly flag: FlagView }) {
  const { configurations, fields } = useUserDrafts()
  const isChanged = [...useChangedPlaces().map(({ flagId }) => flagId), ...useChangedFlags()]
  const discard = () => {
    configurations.forget(id)
    fields.forget(id)
  }
  const onDiscard = isChanged.includes(id) ? discard : undefined
  return (
    <Gone title={texts.flag(name)} recordId={id} onDiscard={onDiscard}>
      <p>
        <Link to="/p/$project/flags" params={{ project: projectId }}>
          {texts.flags}
        </Link>
      </p>
    </Gone>
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
