import { Link } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'
import { messages } from '../messages/messages.ts'

/** The page of an address that does not exist, or to which the user has no access. */
export function NotFoundPage() {
  return (
    <Page title={messages.errors.notFoundTitle}>
      <p>{messages.errors.notFound}</p>
      <p>
        <Link to="/">{messages.errors.toStart}</Link>
      </p>
    </Page>
  )
}
