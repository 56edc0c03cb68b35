import { lazy, type ReactNode, Suspense, useState } from 'react'
import { hasDrafts } from '../session/stored-drafts.ts'

const LogOutDialog = lazy(async () => {
  return { default: (await import('./log-out-dialog.tsx')).LogOutDialog }
})

/** A way to log out that asks first if there are drafts. */
export interface LogOut {
  readonly ask: () => void
  /** The question, which the caller renders. */
  readonly question: ReactNode
}

/** Returns a function that leaves at once without drafts, and otherwise asks before they are removed. */
export function useLogOut(leave: () => void): LogOut {
  const [isAsking, setAsking] = useState(false)
  const question = isAsking && (
    <Suspense fallback={null}>
      <LogOutDialog onConfirm={leave} onClose={() => setAsking(false)} />
    </Suspense>
  )
  return { ask: () => (hasDrafts() ? setAsking(true) : leave()), question }
}
