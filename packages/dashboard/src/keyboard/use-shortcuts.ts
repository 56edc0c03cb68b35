import { createContext, use, useEffect } from 'react'
import { Keyboard, type Shortcut } from './keyboard.ts'

/** The keyboard of the page. */
export const KeyboardContext = createContext(new Keyboard())

/** Registers shortcuts while the component is shown. `shortcuts` must be the same array if unchanged. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const keyboard = use(KeyboardContext)
  useEffect(() => keyboard.add(shortcuts), [keyboard, shortcuts])
}
