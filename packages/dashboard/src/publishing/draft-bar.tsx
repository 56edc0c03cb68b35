import { useMemo, useState } from 'react'
import { Button } from '../components/button.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { messages } from '../messages/messages.ts'
import type { FlagDraftHandle } from '../user-drafts/flag-draft-handle.ts'
import { draftChanges } from './draft-changes.ts'
import { mainImpact } from './impact/impact-numbers.ts'
import { usePreview } from './impact/use-preview.ts'
import styles from './publishing.module.css'
import { UndoButtons } from './undo-buttons.tsx'
import { useDraftDifferences } from './use-draft-differences.ts'

const { bar, impact } = messages.publishing

/** The properties of `DraftBar`. */
export interface DraftBarProps {
  readonly handle: FlagDraftHandle
  readonly onReview: () => void
  /** Why the draft cannot be published. */
  readonly refusal: string | undefined
}

/** The changes of a draft and their impact, with the buttons that undo, discard and review them. */
export function DraftBar({ handle, onReview, refusal }: DraftBarProps) {
  const [isAsking, setAsking] = useState(false)
  const { differences } = useDraftDifferences(handle)
  const { draft, isChanged, dispatch } = handle
  return (
    <section className={styles.draft} aria-label={bar.region}>
      <p className={styles.facts}>
        <span className={styles.strong}>
          {isChanged ? bar.changes(differences.length) : bar.noChanges}
        </span>
        {isChanged && <ShortImpact handle={handle} />}
      </p>
      <div className={styles.buttons}>
        <UndoButtons draft={draft} onStep={dispatch} />
        {isChanged && (
          <>
            <Button onPress={() => setAsking(true)}>{bar.discard}</Button>
            <Button variant="primary" onPress={onReview} disabledReason={refusal}>
              {bar.review}
            </Button>
          </>
        )}
      </div>
      <ConfirmDialog
        title={bar.discardTitle}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        confirm={bar.discardConfirm}
        onConfirm={() => {
          setAsking(false)
          handle.discard()
        }}
        isDangerous
      >
        <p>{bar.discardText}</p>
      </ConfirmDialog>
    </section>
  )
}

function ShortImpact({ handle }: { readonly handle: FlagDraftHandle }) {
  const { flag, environment } = handle
  const changes = useMemo(() => draftChanges(handle), [handle])
  const place = { projectId: flag.projectId, environmentId: environment.id }
  const { preview } = usePreview({ ...place, changes })
  const main = preview && mainImpact(preview, flag.id)
  if (main === undefined) return null
  const { changed, undetermined, scaled } = main
  return (
    <span className={styles.muted}>
      {scaled === null ? impact.short(changed) : impact.shortAbout(scaled.estimate)}
      {undetermined > 0 && ` · ${impact.notKnown(undetermined)}`}
    </span>
  )
}
