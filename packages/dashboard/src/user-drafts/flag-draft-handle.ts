import type { Environment, FlagView } from '@ff/protocol/management'
import type { FlagDraft, FlagDraftAction } from '../draft/flag-draft.ts'

/** The draft of a flag in one environment, with the functions that change it. */
export interface FlagDraftHandle {
  readonly flag: FlagView
  readonly environment: Environment
  readonly draft: FlagDraft
  readonly isChanged: boolean
  dispatch(action: FlagDraftAction): void
  /** Replaces the draft, for example after a merge. */
  replace(draft: FlagDraft): void
  /** Ends the draft and shows the published configuration. */
  discard(): void
}
