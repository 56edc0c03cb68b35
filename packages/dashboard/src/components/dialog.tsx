import { type ReactNode, useEffect, useRef } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { messages } from '../messages/messages.ts'
import { Button } from './button.tsx'
import styles from './dialog.module.css'

/** The properties of `Dialog`. */
export interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly children: ReactNode
  /** The buttons at the end. */
  readonly actions?: ReactNode
  readonly isWide?: boolean
  /** `false` keeps the dialog open after a click outside and after Escape. */
  readonly canDismiss?: boolean
  readonly role?: 'dialog' | 'alertdialog'
}

/** A dialog over the page. The page renders it once, not in each row. Focus returns when it closes. */
export function Dialog(props: DialogProps) {
  const { title, isOpen, onClose, children, actions, canDismiss = true } = props
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={canDismiss}
      isKeyboardDismissDisabled={!canDismiss}
      className={styles.overlay ?? ''}
    >
      <Modal className={(props.isWide ? styles.wide : styles.modal) ?? ''}>
        <AriaDialog role={props.role ?? 'dialog'} className={styles.dialog ?? ''}>
          <Heading slot="title">{title}</Heading>
          <div className={styles.content}>{children}</div>
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

/** The properties of `ConfirmDialog`. */
export interface ConfirmDialogProps extends Omit<DialogProps, 'actions' | 'role' | 'canDismiss'> {
  /** The text of the button, which says what it does. */
  readonly confirm: string
  readonly onConfirm: () => void
  readonly isDangerous?: boolean
  /** The button that has the focus first; `cancel` by default. */
  readonly focus?: 'confirm' | 'cancel'
  readonly isPending?: boolean
}

/** A dialog that asks before an action. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { confirm, onConfirm, isDangerous, focus, isPending, ...rest } = props
  return <Dialog {...rest} role="alertdialog" actions={<ConfirmButtons {...props} />} />
}

function ConfirmButtons(props: ConfirmDialogProps) {
  const { confirm, onConfirm, onClose, isDangerous, focus = 'cancel', isPending = false } = props
  const place = useRef<HTMLSpanElement>(null)
  // The library delays its own focus after a press by a key, and the dialog would then have it.
  useEffect(() => {
    const buttons = place.current?.querySelectorAll('button')
    buttons?.[focus === 'cancel' ? 0 : 1]?.focus()
  }, [focus])
  return (
    <span ref={place} className={styles.buttons}>
      <Button onPress={onClose}>{messages.components.cancel}</Button>
      <Button
        variant={isDangerous ? 'danger' : 'primary'}
        onPress={onConfirm}
        isPending={isPending}
      >
        {confirm}
      </Button>
    </span>
  )
}
