import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ApiError } from '../../api/api-error.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/states.tsx'
import { SentenceText } from '../../components/text/sentence-text.tsx'
import { showToast } from '../../components/toast.tsx'
import { messages } from '../../messages/messages.ts'
import type { Sentence } from '../../messages/phrases/fragment.ts'
import { textOf } from '../../messages/phrases/fragment.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useAction } from '../../queries/use-action.ts'
import { useApi } from '../../session/use-session.ts'
import { NoteField } from './note-field.tsx'
import { revisionTag, saveSegment } from './save-segment.ts'
import { type DraftReceiver, useSegmentHandle } from './segment-handle.ts'
import { SegmentImpact } from './segment-impact.tsx'
import styles from './segments.module.css'

const { segments: texts, components } = messages

/** The properties of `SegmentReview`. */
export interface SegmentReviewProps extends DraftReceiver {
  readonly differences: readonly Sentence[]
  readonly onClose: () => void
}

/** The dialog that shows the changes of a segment and their impact, and saves them. */
export function SegmentReview(props: SegmentReviewProps) {
  const { differences, onClose } = props
  const { segment, draft } = useSegmentHandle()
  const [note, setNote] = useState('')
  const { save, isPending, failure } = useSave(props, note)
  return (
    <Dialog
      title={texts.reviewTitle(segment.name)}
      isOpen
      onClose={onClose}
      isWide
      canDismiss={!isPending}
      actions={
        <>
          <Button onPress={onClose}>{components.cancel}</Button>
          <Button variant="primary" onPress={save} isPending={isPending}>
            {texts.save}
          </Button>
        </>
      }
    >
      {failure?.isStale && <p role="alert">{`${texts.newer} ${texts.newerHint}`}</p>}
      {failure?.error !== undefined && !failure.isStale && (
        <ErrorState
          title={texts.notSaved}
          error={failure.error}
          {...(failure.isPart ? { notDone: texts.partlySaved } : {})}
        />
      )}
      {failure?.error?.issues.map(({ path, message }) => (
        <p key={`${path} ${message}`} className={styles.fault}>
          {`${path}: ${message}`}
        </p>
      ))}
      <p>{texts.everywhere}</p>
      <ul className={styles.changes}>
        {differences.map((sentence) => (
          <li key={textOf(sentence)}>
            <SentenceText sentence={sentence} />
          </li>
        ))}
      </ul>
      <SegmentImpact segment={segment} draft={draft} />
      <NoteField projectId={segment.projectId} value={note} onChange={setNote} isAlwaysShown />
    </Dialog>
  )
}

/** Why a draft was not saved, or not as a whole. */
interface Failure {
  readonly error: ApiError | undefined
  readonly isStale: boolean
  /** `true` if a part of the changes was saved. */
  readonly isPart: boolean
}

function useSave({ onClose, onReplace, onIssues }: SegmentReviewProps, note: string) {
  const api = useApi()
  const queryClient = useQueryClient()
  const { segment, draft } = useSegmentHandle()
  const { run, isPending } = useAction()
  const [failure, setFailure] = useState<Failure>()
  const save = () =>
    run(async () => {
      const result = await saveSegment(api, { segment, draft, comment: note.trim() })
      const { id, projectId } = segment
      const saved = result.segment ?? segment
      if (result.segment !== undefined) {
        const loaded = { data: saved, etag: revisionTag(saved) }
        queryClient.setQueryData(queryKeys.segment(projectId, id), loaded)
        void queryClient.invalidateQueries({ queryKey: queryKeys.segments(projectId) })
      }
      const { error, isStale } = result
      onReplace(saved, error === undefined ? undefined : result.draft)
      if (error === undefined) {
        showToast(texts.saved(saved.name))
        onClose()
        return
      }
      onIssues(error.issues, result.draft)
      setFailure({ error, isStale, isPart: result.segment !== undefined && !isStale })
    })
  return { save, isPending, failure }
}
