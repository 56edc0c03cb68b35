import { useState } from 'react'
import type { Difference } from '../draft/difference.ts'
import { configurationDifferences } from '../draft/differences.ts'
import type { Names } from '../draft/sentence.ts'
import { useNames } from '../queries/use-names.ts'
import type { FlagDraftHandle } from '../user-drafts/flag-draft-handle.ts'

/** The changes of a draft in words, and what the words depend on. */
export interface DraftDifferences {
  readonly differences: readonly Difference[]
  readonly names: Names
  /** Epoch milliseconds, the same while the component is shown. */
  readonly now: number
}

/** Returns the changes of a draft as sentences. */
export function useDraftDifferences({
  flag,
  environment,
  draft,
}: FlagDraftHandle): DraftDifferences {
  const [now] = useState(Date.now)
  const names = useNames(flag, [draft.base, draft.current])
  const { isProduction } = environment
  const options = { names, isProduction, now }
  return { differences: configurationDifferences(draft.base, draft.current, options), names, now }
}
