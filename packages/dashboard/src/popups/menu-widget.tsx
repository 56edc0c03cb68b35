import { type ReactNode, useEffect, useState } from 'react'
import {
  Menu as AriaMenu,
  ButtonContext,
  MenuItem,
  MenuTrigger,
  Popover,
} from 'react-aria-components'
import styles from '../components/field.module.css'

/** One action of a menu. */
export interface Action {
  readonly id: string
  readonly name: string
  readonly onAction: () => void
  readonly isDisabled?: boolean
}

/** The properties of `Menu`. */
export interface MenuProps {
  readonly label: string
  /** The button that opens the menu. */
  readonly trigger: ReactNode
  readonly actions: readonly Action[]
}

/** The properties of `MenuWidget`. */
export interface MenuWidgetProps extends MenuProps {
  /** Focuses the button at first. */
  readonly hasFocus: boolean
  /** Opens the menu at first. */
  readonly isOpenFirst: boolean
}

/** The button and the popup of a `Menu`. */
export function MenuWidget({ label, trigger, actions, hasFocus, isOpenFirst }: MenuWidgetProps) {
  const [isOpen, setOpen] = useState(false)
  // The menu opens after the button has the focus, so that the focus can return to it.
  useEffect(() => {
    if (isOpenFirst) setOpen(true)
  }, [isOpenFirst])
  return (
    <MenuTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <ButtonContext value={{ autoFocus: hasFocus || isOpenFirst }}>{trigger}</ButtonContext>
      <Popover className={styles.popover ?? ''}>
        <AriaMenu aria-label={label} className={styles.list ?? ''} items={actions}>
          {({ id, name, onAction, isDisabled = false }) => (
            <MenuItem
              id={id}
              onAction={onAction}
              isDisabled={isDisabled}
              className={styles.option ?? ''}
            >
              {name}
            </MenuItem>
          )}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  )
}
