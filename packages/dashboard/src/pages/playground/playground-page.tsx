import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { DateTimeField } from '../../components/fields/date-time-field.tsx'
import { NumberField } from '../../components/number-field.tsx'
import { Page } from '../../components/page.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { EnvironmentSelect } from '../../environment/environment-select.tsx'
import { messages } from '../../messages/messages.ts'
import { useEnvironment } from '../../queries/use-environment.ts'
import { useProject } from '../../queries/use-queries.ts'
import { useSessionState } from '../../session/use-session.ts'
import { ContextCard } from './context-card.tsx'
import { readContextDraft } from './context-draft.ts'
import { EvaluationResult } from './evaluation-result.tsx'
import styles from './playground.module.css'
import { useContextDraft } from './use-context-draft.ts'

const { playground: texts, errors } = messages

/** What a context gets from every flag of an environment, and why. */
export function PlaygroundPage() {
  return <Playground key={useSessionState().logIn?.user.id} />
}

function Playground() {
  const { project = '' } = useParams({ strict: false })
  const loaded = useProject(project)
  const { environment } = useEnvironment()
  const editor = useContextDraft()
  const read = useMemo(() => readContextDraft(editor.draft), [editor.draft])
  if (loaded.isError) {
    return (
      <Page title={texts.title}>
        <ErrorState
          title={errors.loadFailed(texts.title)}
          error={loaded.error}
          onRetry={() => loaded.refetch()}
        />
      </Page>
    )
  }
  return (
    <Page title={texts.title}>
      <p className={styles.hint}>{texts.hint}</p>
      <div className={styles.columns}>
        <ContextCard editor={editor} read={read} environmentId={environment?.id ?? ''} />
        <div className={styles.results}>
          <Place />
          {environment === undefined ? (
            <Skeleton />
          ) : (
            <EvaluationResult environment={environment} context={read.context} />
          )}
        </div>
      </div>
    </Page>
  )
}

/** The choice of the environment, the version and the time. They are in the address. */
function Place() {
  const { environment, environments } = useEnvironment()
  const { version, at } = useSearch({ from: '/layout/p/$project/playground' })
  const navigate = useNavigate({ from: '/p/$project/playground' })
  const set = (changes: object) =>
    navigate({ search: (search) => ({ ...search, ...changes }), replace: true })
  return (
    <div className={styles.place}>
      <EnvironmentSelect
        environments={environments}
        environment={environment}
        isLabelHidden={false}
        onChange={(env) => set({ env, version: undefined })}
      />
      <NumberField
        label={texts.version}
        minValue={1}
        value={version}
        onChange={(value) => set({ version: value })}
      />
      <DateTimeField
        label={texts.time}
        value={at ?? ''}
        onChange={(time) => set({ at: time === '' ? undefined : time })}
      />
    </div>
  )
}
