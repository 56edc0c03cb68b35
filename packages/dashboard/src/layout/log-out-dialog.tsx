import { ConfirmDialog } from '../components/dialog.tsx'
import { messages } from '../messages/messages.ts'

/** The properties of `LogOutDialog`. */
export interface LogOutDialogProps {
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before a log-out that removes drafts. */
export function LogOutDialog({ onConfirm, onClose }: LogOutDialogProps) {
  const confirm = () => {
    onClose()
    onConfirm()
  }
  return (
    <ConfirmDialog
      title={messages.session.logOutTitle}
      isOpen
      onClose={onClose}
      confirm={messages.session.logOutConfirm}
      onConfirm={confirm}
      isDangerous
    >
      <p>{messages.session.logOutHint}</p>
    </ConfirmDialog>
  )
}
