import { Button } from '../components/button.tsx'
import { Page } from '../components/page.tsx'
import { ErrorState } from '../components/states.tsx'
import { messages } from '../messages/messages.ts'

/** The page in place of a page that failed. */
export function ErrorPage({ error }: { readonly error: unknown }) {
  return (
    <Page title={messages.errors.pageFailed}>
      <ErrorState
        title={messages.errors.pageFailed}
        error={error}
        notDone={messages.errors.pageFailedHint}
      />
      <div>
        <Button variant="primary" onPress={() => window.location.reload()}>
          {messages.errors.reload}
        </Button>
      </div>
    </Page>
  )
}
