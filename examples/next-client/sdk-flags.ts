import { ff } from '@ff/client/vercel'
import { flag } from 'flags/next'
import { local } from './local-flags.ts'
import { contextOf } from './shop-flags.ts'

// #region adapter
const shop = ff(local, {
  dashboard: `${process.env['FF_URL']}/dashboard/p/shop`,
  // `proxy.ts` adds the header. An application takes the user from its session.
  identify: ({ headers }) => contextOf(headers.get('x-user') ?? ''),
})

/** A flag of the Flags SDK with the type of the flag: `await newCheckout()` returns `boolean`. */
export const newCheckout = flag(shop.declare('new-checkout'))
// #endregion
