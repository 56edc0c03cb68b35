import type { FlagView } from '@ff/protocol/management'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { ErrorState } from '../../../components/states.tsx'
import { TextField } from '../../../components/text-field.tsx'
import { showToast } from '../../../components/toast.tsx'
import { fields as texts } from '../../../messages/en/fields.ts'
import { messages } from '../../../messages/messages.ts'
import { queryKeys } from '../../../queries/query-keys.ts'
import { useApi, useMay } from '../../../session/use-session.ts'
import { classNames } from '../../../style/class-names.ts'
import { useUserDrafts } from '../../../user-drafts/use-user-drafts.ts'
import styles from '../fields/fields.module.css'

const { settings: words } = texts

/** Deletes a flag after its key has been entered. */
export function DeleteCard({ flag }: { readonly flag: FlagView }) {
  const may = useMay('flags.write')
  const [isOpen, setOpen] = useState(false)
  return (
    <section className={classNames(styles.card, styles.danger)} aria-label={words.deleteTitle}>
      <h2>{words.deleteTitle}</h2>
      <p>{words.deleteHint}</p>
      <div>
        <Button variant="danger" disabledReason={may.reason} onPress={() => setOpen(true)}>
          {words.delete}
        </Button>
      </div>
      {isOpen && <DeleteDialog flag={flag} onClose={() => setOpen(false)} />}
    </section>
  )
}

interface DeleteDialogProps {
  readonly flag: FlagView
  readonly onClose: () => void
}

function DeleteDialog({ flag, onClose }: DeleteDialogProps) {
  const [text, setText] = useState('')
  const { remove, isPending, error } = useDelete(flag)
  return (
    <Dialog
      title={words.deleteQuestion(flag.name)}
      role="alertdialog"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button
            variant="danger"
            isDisabled={text !== flag.key}
            isPending={isPending}
            onPress={remove}
          >
            {words.delete}
          </Button>
        </>
      }
    >
      <p>{words.deleteHint}</p>
      <TextField
        autoFocus
        label={words.typeKey(flag.key)}
        isMonospace
        value={text}
        onChange={setText}
      />
      {error !== undefined && (
        <ErrorState title={words.notDeleted} error={error} notDone={messages.errors.notSaved} />
      )}
    </Dialog>
  )
}

function useDelete({ id: flagId, projectId, name }: FlagView) {
  const api = useApi()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { configurations, fields } = useUserDrafts()
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>()
  const remove = async () => {
    setPending(true)
    try {
      await api.call('deleteFlag', { params: { projectId, flagId } })
    } catch (caught) {
      setError(caught)
      setPending(false)
      return
    }
    configurations.forget(flagId)
    fields.forget(flagId)
    await navigate({ to: '/p/$project/flags', params: { project: projectId } })
    queryClient.removeQueries({ queryKey: queryKeys.flag(projectId, flagId) })
    await queryClient.invalidateQueries({ queryKey: queryKeys.project(projectId) })
    showToast(words.deleted(name))
  }
  return { remove, isPending, error }
}
