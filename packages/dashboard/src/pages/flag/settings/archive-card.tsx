import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { ConfirmDialog } from '../../../components/dialog.tsx'
import { ErrorState } from '../../../components/states.tsx'
import { showToast } from '../../../components/toast.tsx'
import { fields as texts } from '../../../messages/en/fields.ts'
import { messages } from '../../../messages/messages.ts'
import { queryKeys } from '../../../queries/query-keys.ts'
import { useApi, useMay } from '../../../session/use-session.ts'
import styles from '../fields/fields.module.css'
import type { SettingsTabProps } from './settings-tab-props.ts'

const { settings: words } = texts

/** Archives a flag after a question, or restores it. */
export function ArchiveCard({ flag, flagEtag }: SettingsTabProps) {
  const may = useMay('flags.write')
  const [isOpen, setOpen] = useState(false)
  const { change, isPending, error } = useArchive({ flag, flagEtag })
  const { archived, name } = flag
  const archive = async () => {
    setOpen(false)
    await change(true)
  }
  return (
    <section className={styles.card} aria-label={words.archiveTitle}>
      <h2>{words.archiveTitle}</h2>
      <p>{archived ? words.restoreHint : words.archiveHint}</p>
      {error !== undefined && (
        <ErrorState
          title={archived ? words.notRestored : words.notArchived}
          error={error}
          notDone={messages.errors.notSaved}
        />
      )}
      <div>
        <Button
          disabledReason={may.reason}
          isPending={isPending}
          onPress={() => (archived ? change(false) : setOpen(true))}
        >
          {archived ? words.restore : words.archive}
        </Button>
      </div>
      <ConfirmDialog
        title={words.archiveQuestion(name)}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        confirm={words.archive}
        onConfirm={archive}
        isDangerous
      >
        <p>{words.archiveEffect}</p>
      </ConfirmDialog>
    </section>
  )
}

function useArchive({ flag, flagEtag }: SettingsTabProps) {
  const api = useApi()
  const queryClient = useQueryClient()
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>()
  const { id: flagId, projectId, name } = flag
  const change = async (archived: boolean) => {
    setPending(true)
    try {
      const params = { projectId, flagId }
      await api.call('updateFlag', { params, body: { archived }, ifMatch: flagEtag })
      setError(undefined)
      showToast(archived ? words.archived(name) : words.restored(name))
    } catch (caught) {
      setError(caught)
    } finally {
      await queryClient.invalidateQueries({ queryKey: queryKeys.project(projectId) })
      setPending(false)
    }
  }
  return { change, isPending, error }
}
