import { Outlet, useMatches } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { CommandBarHost } from '../command-bar/command-bar-host.tsx'
import { FlagSwitchDialogHost } from '../flag-switch/flag-switch-dialog-host.tsx'
import { messages } from '../messages/messages.ts'
import { whenIdle } from '../popups/when-idle.ts'
import { useEnvironment } from '../queries/use-environment.ts'
import { EnvironmentGate } from './environment-gate.tsx'
import styles from './layout.module.css'
import { loadDialogs } from './load-dialogs.ts'
import { LogInAgain } from './log-in-again.tsx'
import { OfflineBar } from './offline-bar.tsx'
import { ProjectEvents } from './project-events.tsx'
import { ProjectGate } from './project-gate.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { SideBar } from './side-bar.tsx'

/** The layout of every page: skip link, side bar and content. */
export function Layout() {
  const [isCommandBarOpen, setCommandBarOpen] = useState(false)
  useEffect(() => whenIdle(() => void loadDialogs()), [])
  return (
    <div className={styles.layout}>
      <button type="button" className={styles.skip} onClick={focusContent}>
        {messages.shell.skip}
      </button>
      <SideBar onCommandBar={() => setCommandBarOpen(true)} />
      <main id="content" tabIndex={-1} className={styles.content}>
        <ProductionLine />
        <OfflineBar />
        <ProjectEvents>
          <FlagSwitchDialogHost>
            <ProjectGate>
              <EnvironmentGate>
                <Outlet />
              </EnvironmentGate>
            </ProjectGate>
            <CommandBarHost isOpen={isCommandBarOpen} onChange={setCommandBarOpen} />
          </FlagSwitchDialogHost>
        </ProjectEvents>
      </main>
      <Shortcuts />
      <LogInAgain />
    </div>
  )
}

function focusContent(): void {
  document.getElementById('content')?.focus()
}

/** The line above a page that shows a production environment. */
function ProductionLine() {
  const { environment } = useEnvironment()
  const showsEnvironment = useMatches({
    select: (matches) => matches.some(({ staticData }) => staticData.environment === 'shown'),
  })
  if (!showsEnvironment || environment?.isProduction !== true) return null
  return (
    <div className={styles.production}>
      <span className="visually-hidden">{messages.shell.pageOfProduction}</span>
    </div>
  )
}
