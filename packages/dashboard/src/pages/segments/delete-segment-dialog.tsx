import { inUseCodec, type Segment } from '@ff/protocol/management'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { errorDataOf } from '../../api/api-error.ts'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/states.tsx'
import { showToast } from '../../components/toast.tsx'
import { messages } from '../../messages/messages.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useAction } from '../../queries/use-action.ts'
import { useApi } from '../../session/use-session.ts'
import { useUserDrafts } from '../../user-drafts/use-user-drafts.ts'
import { NoteField } from './note-field.tsx'
import styles from './segments.module.css'

const { segments: texts } = messages

/** The properties of `DeleteSegmentDialog`. */
export interface DeleteSegmentDialogProps {
  readonly segment: Segment
  readonly onClose: () => void
}

/** The dialog that asks before a segment is deleted, and lists what prevents it. */
export function DeleteSegmentDialog({ segment, onClose }: DeleteSegmentDialogProps) {
  const [note, setNote] = useState('')
  const { remove, isPending, error } = useDeletion(segment, note)
  const usedBy = errorDataOf(error, inUseCodec)?.usedBy
  return (
    <ConfirmDialog
      title={texts.deleteTitle(segment.name)}
      isOpen
      onClose={onClose}
      confirm={texts.deleteSegment}
      onConfirm={remove}
      isDangerous
      isPending={isPending}
    >
      <p>{texts.deleteHint}</p>
      <NoteField projectId={segment.projectId} value={note} onChange={setNote} />
      {error !== undefined && usedBy === undefined && (
        <ErrorState title={texts.notDeleted} error={error} />
      )}
      {usedBy !== undefined && (
        <div role="alert" className={styles.form}>
          <p className={styles.strong}>{texts.notDeleted}</p>
          <p>{texts.inUse}</p>
          <ul className={styles.changes}>
            {usedBy.map(({ resource, id, name }) => (
              <li key={id}>
                <bdi>{texts.user(resource, name)}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )}
    </ConfirmDialog>
  )
}

function useDeletion({ id: segmentId, projectId, name }: Segment, note: string) {
  const api = useApi()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { segments } = useUserDrafts()
  const { run, isPending, error } = useAction()
  const remove = () =>
    run(async () => {
      await api.call('deleteSegment', { params: { projectId, segmentId }, comment: note.trim() })
      await navigate({ to: '/p/$project/segments', params: { project: projectId } })
      segments.forget(segmentId)
      queryClient.removeQueries({ queryKey: queryKeys.segment(projectId, segmentId) })
      void queryClient.invalidateQueries({ queryKey: queryKeys.segments(projectId) })
      showToast(texts.deleted(name))
    })
  return { remove, isPending, error }
}
