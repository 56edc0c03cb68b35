import { lazy, Suspense, useMemo, useState } from 'react'
import { useShortcuts } from '../keyboard/use-shortcuts.ts'
import { messages } from '../messages/messages.ts'

const CommandBar = lazy(async () => ({
  default: (await import('./command-bar.tsx')).CommandBar,
}))

/** Opens the command bar with Ctrl K or ⌘ K. The bar is loaded when it is opened first. */
export function CommandBarHost() {
  const [isOpen, setOpen] = useState(false)
  const shortcuts = useMemo(() => {
    const run = () => setOpen((before) => !before)
    return [{ keys: ['mod+k'], name: messages.commandBar.open, run }] as const
  }, [])
  useShortcuts(shortcuts)
  if (!isOpen) return null
  return (
    <Suspense>
      <CommandBar onClose={() => setOpen(false)} />
    </Suspense>
  )
}
