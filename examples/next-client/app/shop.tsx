'use client'

import type { FlagSnapshot } from '@ff/client'
import { useState } from 'react'
import { FlagsProvider, useFlag, useFlagClient, useFlagStatus } from '../flag-hooks.ts'
import { contextOf } from '../shop-flags.ts'

interface ShopProps {
  readonly user: string
  /** The URL of the flag server. */
  readonly url: string
  /** An SDK key of the kind `client`. */
  readonly sdkKey: string
  readonly snapshot: FlagSnapshot
}

// #region shop
/** A client component. Its first render equals the HTML, because it reads the snapshot. */
export function Shop({ user, url, sdkKey, snapshot }: ShopProps) {
  const [current, setCurrent] = useState(user)
  return (
    <FlagsProvider options={{ url, sdkKey }} context={contextOf(current)} snapshot={snapshot}>
      <Checkout />
      <Account user={current} onChange={setCurrent} />
    </FlagsProvider>
  )
}

function Checkout() {
  return <p id="client">{String(useFlag('new-checkout'))}</p>
}
// #endregion

interface AccountProps {
  readonly user: string
  readonly onChange: (user: string) => void
}

function Account({ user, onChange }: AccountProps) {
  const client = useFlagClient()
  const { isCurrent } = useFlagStatus()
  const signOut = () => {
    void client.reset(contextOf(''))
    onChange('')
  }
  return (
    <p id="account" data-current={isCurrent}>
      {user === '' ? (
        <button type="button" onClick={() => onChange('grace')}>
          Sign in
        </button>
      ) : (
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      )}
    </p>
  )
}
