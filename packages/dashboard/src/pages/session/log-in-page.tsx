import { useRouter, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { messages } from '../../messages/messages.ts'
import { useSessionState } from '../../session/use-session.ts'
import { LogInForm } from './log-in-form.tsx'
import { SessionScreen } from './session-screen.tsx'

/** The page on which a user logs in. It then shows the page that the user wanted to open. */
export function LogInPage() {
  const router = useRouter()
  const { next = '/' } = useSearch({ strict: false })
  const { status } = useSessionState()
  useEffect(() => {
    // A log-in in another tab also leads to the page.
    if (status === 'loggedIn') router.history.replace(router.basepath.replace(/\/$/, '') + next)
  }, [status, router, next])
  const base = new URL(document.baseURI).pathname
  return (
    <SessionScreen title={messages.session.logInTitle}>
      <LogInForm onLoggedIn={() => undefined} returnTo={base.replace(/\/$/, '') + next} />
    </SessionScreen>
  )
}
