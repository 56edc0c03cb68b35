// #region flags
import { bool, defineFlags, oneOf } from '@ff/core/flag-types'
import { createFlagHooks } from '@ff/react'

export const shopFlags = defineFlags({
  'new-checkout': bool(false),
  theme: oneOf('light', 'dark'),
})

export const { FlagsProvider, useFlag, useFlagClient, useFlagStatus } = createFlagHooks(shopFlags)
// #endregion
