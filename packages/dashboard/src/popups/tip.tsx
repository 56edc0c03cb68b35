import { type RefObject, useEffect, useMemo } from 'react'
import { Tooltip, TooltipTriggerStateContext } from 'react-aria-components'
import styles from './tip.module.css'

/** The properties of `Tip`. */
export interface TipProps {
  readonly text: string
  /** The element that the tip explains. */
  readonly trigger: RefObject<HTMLElement | null>
  /** Called when the tip is closed with Escape or by a scroll. */
  readonly onClose: () => void
  /** Called when the pointer enters and leaves the tip, which stays open under the pointer. */
  readonly onHover: (isHovered: boolean) => void
}

/** An open tip beside its element. */
export function Tip({ text, trigger, onClose, onHover }: TipProps) {
  useEffect(() => {
    const closeWithEscape = ({ key }: KeyboardEvent) => key === 'Escape' && onClose()
    document.addEventListener('keydown', closeWithEscape)
    return () => document.removeEventListener('keydown', closeWithEscape)
  }, [onClose])
  const state = useMemo(() => {
    const close = (isImmediate?: boolean) => (isImmediate ? onClose() : onHover(false))
    return { isOpen: true, shouldSkipAnimation: true, open: () => onHover(true), close }
  }, [onClose, onHover])
  return (
    <TooltipTriggerStateContext value={state}>
      <Tooltip triggerRef={trigger} isOpen offset={4} className={styles.tip ?? ''}>
        {text}
      </Tooltip>
    </TooltipTriggerStateContext>
  )
}
