import { useEffect, useState } from 'react'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { TextField } from '../components/text-field.tsx'
import { isSame } from '../draft/configuration.ts'
import { messages } from '../messages/messages.ts'
import type { FlagDraftHandle } from '../user-drafts/flag-draft-handle.ts'
import { NewerBanner } from './newer-banner.tsx'
import { type NoteFault, noteFault, noteOf } from './note.ts'
import type { Review } from './publish-state.ts'
import { ReviewContent } from './review-content.tsx'
import { ReviewOutcome } from './review-outcome.tsx'
import type { NewerConfiguration } from './use-newer-configuration.ts'
import type { Publisher } from './use-publish.ts'

const { review: words } = messages.publishing

/** The properties of `ReviewDialog`. */
export interface ReviewDialogProps {
  readonly handle: FlagDraftHandle
  readonly publisher: Publisher
  /** A newer version, which must be merged before the draft can be published. */
  readonly newer: NewerConfiguration | undefined
  readonly onMerge: () => void
}

/** The review of a draft before it is published. */
export function ReviewDialog(props: ReviewDialogProps) {
  const { handle, publisher, newer, onMerge } = props
  const { state, close } = publisher
  const review = 'review' in state && state.phase !== 'conflict' ? state.review : undefined
  const isBusy = state.phase === 'publishing'
  const note = useNoteField(handle, publisher, review)
  return (
    <Dialog
      title={words.title(handle.environment.name)}
      isOpen={review !== undefined}
      onClose={close}
      canDismiss={!isBusy}
      isWide
      actions={
        <>
          <Button onPress={close} isDisabled={isBusy}>
            {words.back}
          </Button>
          <Button
            variant="primary"
            onPress={() => note.isValid() && void publisher.publish()}
            disabledReason={newer === undefined ? undefined : words.newer}
          >
            {state.phase === 'unknown' ? words.retry : words.publish(handle.environment.name)}
          </Button>
        </>
      }
    >
      {newer !== undefined && <NewerBanner author={newer.author} onMerge={onMerge} />}
      {review !== undefined && <ReviewContent handle={handle}>{note.field}</ReviewContent>}
      <ReviewOutcome state={state} />
    </Dialog>
  )
}

/** The field of the note, and a check that shows its fault. */
function useNoteField(
  { draft, environment }: FlagDraftHandle,
  { state, setNote }: Publisher,
  review: Review | undefined,
) {
  const [isChecked, setChecked] = useState(false)
  const isRequired = environment.commentRequired && !isOnlySwitchedOff(draft)
  const note = review?.note ?? ''
  const fault = noteFault(note, isRequired)
  const isRefused = state.phase === 'reviewing' && state.refusal?.code === 'COMMENT_REQUIRED'
  useEffect(() => {
    if (review === undefined) setChecked(false)
  }, [review])
  const shown = isRefused && note === '' ? ({ kind: 'missing' } as const) : fault
  const field = (
    <TextField
      label={isRequired ? words.noteWithMark : words.note}
      hint={words.noteHint}
      value={note}
      onChange={(text) => setNote(noteOf(text))}
      isRequired={isRequired}
      isDisabled={state.phase !== 'reviewing'}
      isMultiline
      error={isChecked || shown?.kind === 'tooLong' || isRefused ? faultWords(shown) : undefined}
    />
  )
  const isValid = () => {
    setChecked(true)
    return fault === undefined
  }
  return { field, isValid }
}

/** Switching a flag off never needs a note. */
function isOnlySwitchedOff({ base, current }: FlagDraftHandle['draft']): boolean {
  if (!base.state.isActive || current.state.isActive) return false
  return isSame({ ...base, state: { ...base.state, isActive: false } }, current)
}

function faultWords(fault: NoteFault | undefined): string | undefined {
  if (fault === undefined) return undefined
  return fault.kind === 'missing' ? words.noteRequired : words.noteTooLong(fault.length)
}
