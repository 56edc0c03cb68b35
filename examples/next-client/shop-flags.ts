import { bool, defineFlags, oneOf } from '@ff/core/flag-types'

/** The flags of the shop, for the server and for pages. */
export const shopFlags = defineFlags({
  'new-checkout': bool(false),
  theme: oneOf('light', 'dark'),
})

/** Returns the context of a user. */
export function contextOf(user: string): { kind: 'user'; key?: string } {
  return user === '' ? { kind: 'user' } : { kind: 'user', key: user }
}
