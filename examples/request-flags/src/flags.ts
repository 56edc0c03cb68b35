import { bool, defineFlags, oneOf } from '@ff/core/flag-types'

/** The flags of the shop, with their types and fallbacks. */
export const shopFlags = defineFlags({
  'new-checkout': bool(false),
  theme: oneOf('light', 'dark'),
})
