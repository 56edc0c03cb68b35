import { bool, defineFlags } from '@ff/core/flag-types'

/** The flag of the example, with its type and its fallback. */
export const shopFlags = defineFlags({ 'new-checkout': bool(false) })
