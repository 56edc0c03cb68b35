import { type Dispatch, lazy, type SetStateAction, Suspense, useMemo } from 'react'
import { useShortcuts } from '../keyboard/use-shortcuts.ts'
import { messages } from '../messages/messages.ts'

/** The shortcut that opens the command bar: Ctrl K or ⌘ K. */
export const COMMAND_BAR_KEYS = ['mod+k'] as const

const CommandBar = lazy(async () => ({
  default: (await import('./command-bar.tsx')).CommandBar,
}))

/** The properties of `CommandBarHost`. */
export interface CommandBarHostProps {
  readonly isOpen: boolean
  readonly onChange: Dispatch<SetStateAction<boolean>>
}

/** The place of the command bar, and its shortcut. The bar is loaded when it is opened first. */
export function CommandBarHost({ isOpen, onChange }: CommandBarHostProps) {
  const shortcuts = useMemo(() => {
    const run = () => onChange((before) => !before)
    return [{ keys: COMMAND_BAR_KEYS, name: messages.commandBar.open, run }] as const
  }, [onChange])
  useShortcuts(shortcuts)
  if (!isOpen) return null
  return (
    <Suspense>
      <CommandBar onClose={() => onChange(false)} />
    </Suspense>
  )
}
