import { useNavigate, useSearch } from '@tanstack/react-router'
import { Page } from '../../components/page.tsx'
import { Select } from '../../components/select.tsx'
import { Skeleton } from '../../components/states.tsx'
import { messages } from '../../messages/messages.ts'
import { useEnvironment } from '../../queries/use-environment.ts'
import { VersionTimeline } from './version-timeline.tsx'

const { history } = messages

/** The versions of an environment. `?flag=` shows only those that changed a flag. */
export function HistoryPage() {
  const navigate = useNavigate()
  const { environment, environments } = useEnvironment()
  const { flag } = useSearch({ strict: false })
  const options = environments.map(({ id, name }) => ({ id, name }))
  const choose = (id: string) => {
    const env = environments.find((each) => each.id === id)?.key
    void navigate({ to: '.', search: (before) => ({ ...before, env }) })
  }
  return (
    <Page
      title={history.title}
      actions={
        <Select
          label={history.environment}
          options={options}
          value={environment?.id ?? null}
          onChange={choose}
          isLabelHidden
        />
      }
    >
      {environment === undefined ? (
        <Skeleton />
      ) : (
        <VersionTimeline key={environment.id} environment={environment} flagId={flag} />
      )}
    </Page>
  )
}
