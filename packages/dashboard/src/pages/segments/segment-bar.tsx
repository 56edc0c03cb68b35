import { useMemo, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { messages } from '../../messages/messages.ts'
import { UndoButtons } from '../../publishing/undo-buttons.tsx'
import { useBottomBar } from '../../publishing/use-bottom-bar.ts'
import { segmentDifferences } from './segment-differences.ts'
import { type DraftReceiver, useSegmentHandle, withNewerBase } from './segment-handle.ts'
import { segmentNames } from './segment-names.ts'
import { SegmentReview } from './segment-review.tsx'
import styles from './segments.module.css'

const { segments: texts } = messages

/** The bar with the unsaved changes of a segment; nothing without changes. */
export function SegmentBar({ onReplace, onIssues }: DraftReceiver) {
  const { segment, draft, isChanged, segments, disabledReason, dispatch } = useSegmentHandle()
  const [open, setOpen] = useState<'review' | 'discard'>()
  const differences = useMemo(
    () => segmentDifferences(draft.base, draft.current, segmentNames(segments)),
    [draft, segments],
  )
  const isOld = isChanged && segment.revision > draft.revision
  const applyToNewer = () => onReplace(segment, withNewerBase(draft, segment))
  const close = () => setOpen(undefined)
  const element = useBottomBar()
  if (!isChanged) return null
  return (
    <section ref={element} className={styles.bar} aria-label={texts.bar}>
      {isOld && (
        <div className={styles.newer}>
          <span>{texts.newer}</span>
          <Button onPress={applyToNewer}>{texts.useNewer}</Button>
        </div>
      )}
      <span className={styles.strong}>{texts.changeCount(differences.length)}</span>
      <div className={styles.buttons}>
        <UndoButtons draft={draft} onStep={dispatch} />
        <Button onPress={() => setOpen('discard')}>{texts.discard}</Button>
        <Button variant="primary" onPress={() => setOpen('review')} disabledReason={disabledReason}>
          {texts.review}
        </Button>
      </div>
      {open === 'review' && (
        <SegmentReview
          differences={differences}
          onClose={close}
          onReplace={onReplace}
          onIssues={onIssues}
        />
      )}
      <ConfirmDialog
        title={texts.discardTitle}
        isOpen={open === 'discard'}
        onClose={close}
        confirm={texts.discard}
        onConfirm={() => onReplace(segment, undefined)}
        isDangerous
      >
        <p>{texts.discardHint}</p>
      </ConfirmDialog>
    </section>
  )
}
