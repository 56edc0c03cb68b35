import { bool, defineFlags, json, number, oneOf, text } from '@ff/core/flag-types'

/** The flags of the type tests. */
export const shopFlags = defineFlags({
  'new-checkout': bool(false),
  theme: oneOf('light', 'dark'),
  banner: text('none'),
  limit: number(1),
  layout: json<{ readonly columns: number }>({ columns: 1 }),
})
