import type { Environment, SdkKey } from '@ff/protocol/management'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Pager } from '../../components/list/pager.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { EnvironmentSelect } from '../../environment/environment-select.tsx'
import { messages } from '../../messages/messages.ts'
import { useEnvironment } from '../../queries/use-environment.ts'
import { useProject, useSdkKeys } from '../../queries/use-queries.ts'
import { useMay } from '../../session/use-session.ts'
import { KeysTable } from './keys-table.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { RevokeKeyDialog } from './revoke-key-dialog.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'
import styles from './settings.module.css'

const { keys: texts, errors } = messages

type KeyAction =
  | { readonly type: 'create' }
  | { readonly type: 'rotate' | 'revoke'; readonly sdkKey: SdkKey }

/** The SDK keys of an environment. */
export function KeysPage() {
  const { project = '' } = useParams({ strict: false })
  const { environment, environments } = useEnvironment()
  const loaded = useProject(project)
  const navigate = useNavigate()
  const may = useMay('projects.write')
  const [action, setAction] = useState<KeyAction>()
  const create = (
    <Button
      variant="primary"
      onPress={() => setAction({ type: 'create' })}
      isDisabled={environment === undefined}
      disabledReason={may.reason}
    >
      <Plus size={16} aria-hidden="true" />
      {texts.create}
    </Button>
  )
  const choice = (
    <EnvironmentSelect
      environments={environments}
      environment={environment}
      onChange={(env) => navigate({ to: '.', search: { env } })}
    />
  )
  return (
    <Page
      title={texts.title}
      actions={
        <>
          {choice}
          {create}
        </>
      }
    >
      <p className={styles.hint}>{texts.hint}</p>
      {loaded.isError && (
        <ErrorState
          title={errors.loadFailed(texts.title)}
          error={loaded.error}
          onRetry={() => loaded.refetch()}
        />
      )}
      {environment !== undefined && (
        <>
          <Keys key={environment.id} environment={environment} create={create} onAct={setAction} />
          <KeyDialog
            environment={environment}
            action={action}
            onClose={() => setAction(undefined)}
          />
        </>
      )}
      {loaded.isPending && <Skeleton rows={3} />}
    </Page>
  )
}

interface KeysProps {
  readonly environment: Environment
  /** The button that creates a key. */
  readonly create: ReactNode
  readonly onAct: (action: KeyAction) => void
}

function Keys({ environment: { id, projectId }, create, onAct }: KeysProps) {
  const [page, setPage] = useState(1)
  const list = useSdkKeys({ projectId, environmentId: id, page })
  if (list.isError) {
    return (
      <ErrorState
        title={errors.loadFailed(texts.title)}
        error={list.error}
        onRetry={() => list.refetch()}
      />
    )
  }
  if (list.data === undefined) return <Skeleton rows={3} />
  const { data, meta } = list.data
  if (meta.total === 0) return <EmptyState sentence={texts.empty} action={create} />
  return (
    <>
      <KeysTable
        sdkKeys={data}
        onRotate={(sdkKey) => onAct({ type: 'rotate', sdkKey })}
        onRevoke={(sdkKey) => onAct({ type: 'revoke', sdkKey })}
      />
      <Pager page={page} pageCount={meta.pageCount} onChange={setPage} />
    </>
  )
}

interface KeyDialogProps {
  readonly environment: Environment
  readonly action: KeyAction | undefined
  readonly onClose: () => void
}

/** The dialog of an action. It is removed when it closes, and a secret in its state with it. */
function KeyDialog({ environment, action, onClose }: KeyDialogProps) {
  switch (action?.type) {
    case 'create':
      return <NewKeyDialog environment={environment} onClose={onClose} />
    case 'rotate':
      return <RotateKeyDialog sdkKey={action.sdkKey} onClose={onClose} />
    case 'revoke':
      return <RevokeKeyDialog sdkKey={action.sdkKey} onClose={onClose} />
    default:
      return null
  }
}
