import type { Readiness } from './client-interface.ts'
import type { ValueSource } from './values/flag-detail.ts'

/** The readiness of a client by the source of its values. */
export const READINESS: Readonly<Record<ValueSource, Readiness>> = {
  server: 'live',
  cache: 'cached',
  bootstrap: 'bootstrapped',
  fallback: 'fallbacks',
}
