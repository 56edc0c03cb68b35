import { ErrorState } from '../../components/states.tsx'
import { messages } from '../../messages/messages.ts'
import type { FlagRows } from './use-flag-rows.ts'

/** The failure of a page of a list, of which other pages are shown. */
export function RowsFailed({ rows }: { readonly rows: FlagRows }) {
  if (rows.error === null) return null
  return <ErrorState title={messages.flags.partFailed} error={rows.error} onRetry={rows.retry} />
}
