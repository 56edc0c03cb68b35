import type { PreviewChange } from '@ff/protocol/management'
import { createContext } from 'react'

/** The draft of a preview. `changes` is `undefined` if there is nothing to preview. */
export interface PreviewDraft {
  readonly projectId: string
  readonly environmentId: string
  readonly changes: readonly PreviewChange[] | undefined
}

/** The draft whose preview is shown, for its explanations. */
export const PreviewDraftContext = createContext<PreviewDraft>({
  projectId: '',
  environmentId: '',
  changes: undefined,
})
