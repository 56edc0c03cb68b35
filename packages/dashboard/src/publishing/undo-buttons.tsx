import { Redo2, Undo2 } from 'lucide-react'
import { Button } from '../components/button.tsx'
import type { History } from '../draft/history.ts'
import { messages } from '../messages/messages.ts'

const { bar } = messages.publishing

/** The properties of `UndoButtons`. */
export interface UndoButtonsProps {
  readonly draft: Pick<History<unknown>, 'past' | 'future'>
  readonly onStep: (step: { readonly type: 'undo' | 'redo' }) => void
}

/** The buttons that undo and redo the edits of a draft. */
export function UndoButtons({ draft, onStep }: UndoButtonsProps) {
  return (
    <>
      <Button
        variant="ghost"
        aria-label={bar.undo}
        isDisabled={draft.past.length === 0}
        onPress={() => onStep({ type: 'undo' })}
      >
        <Undo2 size={16} aria-hidden="true" />
      </Button>
      <Button
        variant="ghost"
        aria-label={bar.redo}
        isDisabled={draft.future.length === 0}
        onPress={() => onStep({ type: 'redo' })}
      >
        <Redo2 size={16} aria-hidden="true" />
      </Button>
    </>
  )
}
