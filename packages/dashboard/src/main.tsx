import { reloadAfterUpgrade } from './setup.ts'

// The module above sets up zod, so all other imports come after it.

import type { QueryClient } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { apiPath, firstRequests } from './first-requests/start.ts'
import { holdIdleWork } from './popups/when-idle.ts'
import { createQueryClient } from './queries/query-client.ts'
import { createAppRouter } from './routes.tsx'
import { linkTabs } from './session/link-tabs.ts'
import { onUserLeft } from './session/on-user-left.ts'
import { Session } from './session/session.ts'
import { applyTheme, readTheme } from './theme/theme.ts'

/** The time after which the outline of the page is no longer in sight, and skeletons appear late. */
const STARTED_MS = 2000
/** The time after which the first page is shown without its data. */
const SKELETON_MS = 400

reloadAfterUpgrade()
applyTheme(readTheme())

const session = new Session(apiPath, firstRequests)
const queryClient = createQueryClient()
const router = createAppRouter({ session, queryClient }, new URL(document.baseURI).pathname)

const loaded = firstData(queryClient)
holdIdleWork(loaded)
linkTabs(session)
onUserLeft(session, () => {
  queryClient.clear()
  void router.invalidate()
})

/** Resolves when the first requests have ended. */
function firstData(client: QueryClient): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = client.getQueryCache().subscribe(({ type }) => {
      if (type !== 'updated' || client.isFetching() > 0) return
      unsubscribe()
      resolve()
    })
  })
}

/** Resolves when the first page can be rendered with its data. It is rendered once instead of twice. */
async function waitForData(): Promise<void> {
  if (queryClient.isFetching() === 0) return
  await Promise.race([loaded, new Promise((resolve) => setTimeout(resolve, SKELETON_MS))])
}

const element = document.getElementById('root')
if (element !== null) {
  const show = () => {
    createRoot(element).render(
      <StrictMode>
        <App session={session} queryClient={queryClient} router={router} />
      </StrictMode>,
    )
    setTimeout(() => {
      document.documentElement.dataset['started'] = 'true'
    }, STARTED_MS)
  }
  // The outline in the page stays until the first page can be shown. The router shows a failure.
  router.load().then(waitForData, waitForData).then(show)
}
