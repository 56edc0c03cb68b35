import { ErrorPage } from './error-page.tsx'
import { NotFoundPage } from './not-found-page.tsx'

/** `NotFoundPage` outside the layout, which has the main landmark of all other pages. */
export function OuterNotFoundPage() {
  return (
    <main>
      <NotFoundPage />
    </main>
  )
}

/** `ErrorPage` outside the layout. */
export function OuterErrorPage({ error }: { readonly error: unknown }) {
  return (
    <main>
      <ErrorPage error={error} />
    </main>
  )
}
