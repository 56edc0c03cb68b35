import { lazy, Suspense } from 'react'
import { useSessionState } from '../session/use-session.ts'

const LogInAgainDialog = lazy(async () => {
  return { default: (await import('./log-in-again-dialog.tsx')).LogInAgainDialog }
})

/** The place of the dialog that is shown after the session has ended. */
export function LogInAgain() {
  const { isLogInNeeded } = useSessionState()
  if (!isLogInNeeded) return null
  return (
    <Suspense fallback={null}>
      <LogInAgainDialog />
    </Suspense>
  )
}
