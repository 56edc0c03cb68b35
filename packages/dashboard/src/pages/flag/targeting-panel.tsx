import type { Environment, FlagView } from '@ff/protocol/management'
import { useEffect, useState } from 'react'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { FlagSwitch } from '../../flag-switch/flag-switch.tsx'
import { messages } from '../../messages/messages.ts'
import { ImpactPanel } from '../../publishing/impact-panel.tsx'
import { PublishBar } from '../../publishing/publish-bar.tsx'
import { useConfiguration } from '../../queries/use-queries.ts'
import type { FlagDraftHandle } from '../../user-drafts/flag-draft-handle.ts'
import { useFlagDraft } from '../../user-drafts/use-flag-draft.ts'
import { EditingContext } from './editing/editing.ts'
import { useEditingOf } from './editing/use-editing-of.ts'
import styles from './flag-page.module.css'
import { loadRuleList } from './targeting/rules-section.tsx'
import { TargetingTab } from './targeting/targeting-tab.tsx'
import { usePreviewChanges } from './use-preview-changes.ts'

/** The properties of `TargetingPanel`. */
export interface TargetingPanelProps {
  readonly flag: FlagView
  readonly environment: Environment
}

/** The targeting of a flag in an environment, with its impact and the bar that publishes it. */
export function TargetingPanel({ flag, environment }: TargetingPanelProps) {
  const { handle, error, retry } = useFlagDraft(flag, environment)
  // The list arrives while the configuration is loaded.
  useEffect(() => void loadRuleList(), [])
  if (handle !== undefined) return <Editor key={environment.id} handle={handle} />
  if (error === null) return <Skeleton rows={4} />
  return (
    <ErrorState
      title={messages.errors.loadFailed(messages.flag.tabs.targeting)}
      error={error}
      onRetry={retry}
    />
  )
}

function Editor({ handle }: { readonly handle: FlagDraftHandle }) {
  const { flag, environment, draft } = handle
  const [isSending, setSending] = useState(false)
  const editing = useEditingOf(handle, isSending)
  const changes = usePreviewChanges(handle, editing.issues)
  const place = { projectId: flag.projectId, environmentId: environment.id, flagId: flag.id }
  const published = useConfiguration(place).data?.data ?? draft.base
  return (
    <EditingContext value={editing}>
      <div className={styles.columns}>
        <TargetingTab
          flagSwitch={
            <FlagSwitch flag={flag} environment={environment} isActive={published.state.isActive} />
          }
        />
        <ImpactPanel projectId={flag.projectId} environment={environment} changes={changes} />
      </div>
      <PublishBar handle={handle} onSending={setSending} />
    </EditingContext>
  )
}
