import { useState } from 'react'
import { ButtonContext } from 'react-aria-components'
import type { MenuProps } from '../popups/menu-widget.tsx'
import { useWidget, Widget } from '../popups/widget.ts'

export type { MenuProps } from '../popups/menu-widget.tsx'

const widget = new Widget(async () => (await import('../popups/menu-widget.tsx')).MenuWidget)

/** A button with a menu of actions. Until the menu is loaded, it is only the button. */
export function Menu(props: MenuProps) {
  const { Component, load } = useWidget(widget)
  const [isFocused, setFocused] = useState(false)
  const [isWanted, setWanted] = useState(false)
  if (Component !== undefined) {
    return <Component {...props} hasFocus={isFocused} isOpenFirst={isWanted} />
  }
  const open = () => {
    setWanted(true)
    load()
  }
  const button = {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPress: open,
    onHoverStart: load,
    onFocusChange: setFocused,
  } as const
  return <ButtonContext value={button}>{props.trigger}</ButtonContext>
}
