import { lazy, Suspense, useState } from 'react'
import { FlagsProvider, useFlag, useFlagClient, useFlagStatus } from './flags.ts'
import { contextOf, type PageData } from './page-data.ts'

// The server streams this part of the page later, and the browser hydrates it later.
const Reviews = lazy(() => import('./reviews.tsx'))

// #region provider
/** The page of a user. The server renders it with a snapshot, and the browser hydrates it. */
export function Shop({ user, sdkKey, url, snapshot }: PageData) {
  const [current, setCurrent] = useState(user)
  return (
    <FlagsProvider options={{ url, sdkKey }} context={contextOf(current)} snapshot={snapshot}>
      <Checkout />
      <Account user={current} onChange={setCurrent} />
      <Suspense fallback={<p>Reviews follow …</p>}>
        <Reviews />
      </Suspense>
    </FlagsProvider>
  )
}
// #endregion

// #region flag
function Checkout() {
  const isNew = useFlag('new-checkout')
  return <button type="button">{isNew ? 'Buy now' : 'Add to cart'}</button>
}
// #endregion

interface AccountProps {
  readonly user: string
  readonly onChange: (user: string) => void
}

// #region account
function Account({ user, onChange }: AccountProps) {
  const client = useFlagClient()
  const { isCurrent } = useFlagStatus()
  const logOut = () => {
    // No value of this user remains. The new context of the provider alone would keep them briefly.
    void client.reset(contextOf(''))
    onChange('')
  }
  return (
    <p id="account" data-current={isCurrent}>
      {user ? `Signed in as ${user}` : 'Signed out'}
      {user ? (
        <button type="button" onClick={logOut}>
          Sign out
        </button>
      ) : (
        <button type="button" onClick={() => onChange('grace')}>
          Sign in
        </button>
      )}
    </p>
  )
}
// #endregion
