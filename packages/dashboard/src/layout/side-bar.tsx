import { Link, useParams } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { CommandBarButton } from '../command-bar/command-bar-button.tsx'
import { Button } from '../components/button.tsx'
import { messages } from '../messages/messages.ts'
import { useSessionState } from '../session/use-session.ts'
import { rememberProject } from './last-project.ts'
import styles from './layout.module.css'
import { SideBarContent } from './side-bar-content.tsx'

const SideBarSheet = lazy(async () => {
  return { default: (await import('./side-bar-sheet.tsx')).SideBarSheet }
})

/** The properties of `SideBar`. */
export interface SideBarProps {
  readonly onCommandBar: () => void
}

/** The side bar: command bar, organization, project, pages, theme and user. In a narrow window it is a sheet. */
export function SideBar({ onCommandBar }: SideBarProps) {
  const [isOpen, setOpen] = useState(false)
  const { project } = useParams({ strict: false })
  const userId = useSessionState().logIn?.user.id
  useEffect(() => {
    if (project !== undefined && userId !== undefined) rememberProject(userId, project)
  }, [project, userId])
  return (
    <header className={styles.bar}>
      <div className={styles.head}>
        <Link to="/" className={styles.product}>
          {messages.shell.product}
        </Link>
        <CommandBarButton onPress={onCommandBar} />
        <span className={styles.toggle}>
          <Button
            variant="ghost"
            aria-label={messages.shell.openNavigation}
            aria-haspopup="dialog"
            aria-expanded={isOpen}
            onPress={() => setOpen(true)}
          >
            <MenuIcon size={18} aria-hidden="true" />
          </Button>
        </span>
      </div>
      <div className={styles.aside}>
        <SideBarContent onOpen={() => undefined} />
      </div>
      {isOpen && (
        <Suspense fallback={null}>
          <SideBarSheet onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </header>
  )
}
