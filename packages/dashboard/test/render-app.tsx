import { cleanup, render } from '@testing-library/react'
import { vi } from 'vitest'
import { App } from '../src/app.tsx'
import { createQueryClient } from '../src/queries/query-client.ts'
import { createAppRouter } from '../src/routes.tsx'
import { onUserLeft } from '../src/session/on-user-left.ts'
import { Session } from '../src/session/session.ts'

/** Renders the application at an address. */
export function renderApp(address: string) {
  window.history.replaceState(null, '', address)
  document.head.innerHTML = '<base href="/">'
  const session = new Session('')
  const queryClient = createQueryClient()
  const router = createAppRouter({ session, queryClient }, '/')
  onUserLeft(session, () => {
    queryClient.clear()
    void router.invalidate()
  })
  render(<App session={session} queryClient={queryClient} router={router} />)
  return { session, router, queryClient }
}

/** Removes the application and everything that a test left: stubs and stored data. */
export function leaveApp(): void {
  cleanup()
  vi.unstubAllGlobals()
  sessionStorage.clear()
  localStorage.clear()
}
