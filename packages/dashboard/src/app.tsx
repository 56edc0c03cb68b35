import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useState } from 'react'
import { ToastRegion } from './components/toast.tsx'
import type { createAppRouter } from './routes.tsx'
import type { Session } from './session/session.ts'
import { SessionContext, useSessionState } from './session/use-session.ts'

/** The properties of `App`. */
export interface AppProps {
  readonly session: Session
  readonly queryClient: QueryClient
  readonly router: ReturnType<typeof createAppRouter>
}

/** The application. The pages of one user are never shown to the next. */
export function App({ session, queryClient, router }: AppProps) {
  return (
    <SessionContext value={session}>
      <QueryClientProvider client={queryClient}>
        <Pages router={router} />
        <ToastRegion />
      </QueryClientProvider>
    </SessionContext>
  )
}

/** The pages. Another user gets new components, without the state of those of the user before. */
function Pages({ router }: Pick<AppProps, 'router'>) {
  const userId = useSessionState().logIn?.user.id
  const [lastUserId, setLastUserId] = useState(userId)
  const [count, setCount] = useState(0)
  if (userId !== undefined && userId !== lastUserId) {
    setLastUserId(userId)
    if (lastUserId !== undefined) setCount(count + 1)
  }
  return <RouterProvider key={count} router={router} />
}
