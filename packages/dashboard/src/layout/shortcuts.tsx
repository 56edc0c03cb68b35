import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, use, useEffect, useMemo, useState } from 'react'
import type { Shortcut } from '../keyboard/keyboard.ts'
import { KeyboardContext, useShortcuts } from '../keyboard/use-shortcuts.ts'
import { messages } from '../messages/messages.ts'
import { keepEnvironment } from './keep-environment.ts'

const ShortcutsDialog = lazy(async () => {
  return { default: (await import('./shortcuts-dialog.tsx')).ShortcutsDialog }
})

const shell = messages.shell
const PAGES = [
  ['f', '/p/$project/flags', shell.flags],
  ['s', '/p/$project/segments', shell.segments],
  ['p', '/p/$project/playground', shell.playground],
  ['h', '/p/$project/history', shell.history],
  ['k', '/p/$project/settings/keys', shell.sdkKeys],
] as const

/** The shortcuts of the layout, and the dialog that lists all shortcuts. */
export function Shortcuts() {
  const keyboard = use(KeyboardContext)
  const [isOpen, setOpen] = useState(false)
  const { project } = useParams({ strict: false })
  const navigate = useNavigate()
  useEffect(() => {
    document.addEventListener('keydown', keyboard.press)
    return () => document.removeEventListener('keydown', keyboard.press)
  }, [keyboard])
  const shortcuts = useMemo((): readonly Shortcut[] => {
    const list = { keys: ['?'], name: shell.listShortcuts, run: () => setOpen(true) } as const
    if (project === undefined) return [list]
    const pages = PAGES.map(([letter, to, name]) => {
      const run = () => void navigate({ to, params: { project }, search: keepEnvironment })
      return { keys: ['g', letter], name: shell.goTo(name), run } as const
    })
    return [list, ...pages]
  }, [project, navigate])
  useShortcuts(shortcuts)
  if (!isOpen) return null
  return (
    <Suspense fallback={null}>
      <ShortcutsDialog onClose={() => setOpen(false)} />
    </Suspense>
  )
}
