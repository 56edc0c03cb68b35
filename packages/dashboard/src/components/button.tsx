import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components'
import { useTip } from '../popups/use-tip.tsx'
import { classNames } from '../style/class-names.ts'
import styles from './button.module.css'

/** The properties of `Button`. */
export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'children' | 'style'> {
  readonly variant?: 'primary' | 'secondary' | 'danger' | 'ghost'
  /** Disables the button and shows the reason on hover and focus. */
  readonly disabledReason?: string | undefined
  readonly children: ReactNode
}

/** A button that says what it does. With a `disabledReason`, it can be focused but not pressed. */
export function Button({ variant = 'secondary', disabledReason, children, ...rest }: ButtonProps) {
  const className = classNames(styles.button, styles[variant])
  useAnnouncementCleanup(rest.isPending === true)
  if (disabledReason !== undefined) {
    const { id, 'aria-label': label, 'aria-labelledby': labelledBy } = rest
    const names = { id, 'aria-label': label, 'aria-labelledby': labelledBy }
    return (
      <DisabledButton names={names} className={className} reason={disabledReason}>
        {children}
      </DisabledButton>
    )
  }
  return (
    <AriaButton {...rest} className={className}>
      {children}
    </AriaButton>
  )
}

/**
 * Removes the announcement of a pending button together with the button. React Aria keeps it for some
 * seconds, with a reference to the label of the button, which then does not exist.
 */
function useAnnouncementCleanup(isPending: boolean): void {
  const wasPending = useRef(false)
  useEffect(() => {
    if (isPending) wasPending.current = true
  }, [isPending])
  useEffect(
    () => () => {
      if (!wasPending.current) return
      const old = document.querySelectorAll('[data-live-announcer] [role="img"]')
      for (const element of old) element.remove()
    },
    [],
  )
}

interface DisabledButtonProps {
  readonly names: Readonly<Record<'id' | 'aria-label' | 'aria-labelledby', string | undefined>>
  readonly className: string
  readonly reason: string
  readonly children: ReactNode
}

function DisabledButton({ names, className, reason, children }: DisabledButtonProps) {
  const reasonId = useId()
  const { trigger, tip } = useTip<HTMLButtonElement>(reason)
  return (
    <span className={styles.disabled}>
      <button
        {...names}
        {...trigger}
        type="button"
        aria-disabled="true"
        aria-describedby={reasonId}
        className={className}
      >
        {children}
      </button>
      <span id={reasonId} className="visually-hidden">
        {reason}
      </span>
      {tip}
    </span>
  )
}
