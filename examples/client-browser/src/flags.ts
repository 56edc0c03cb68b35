// #region flags
import { bool, defineFlags, oneOf } from '@ff/core/flag-types'

export const shopFlags = defineFlags({
  'new-checkout': bool(false),
  theme: oneOf('light', 'dark'),
})
// #endregion
