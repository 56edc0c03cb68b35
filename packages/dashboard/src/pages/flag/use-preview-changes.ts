import type { PreviewChange } from '@ff/protocol/management'
import { useMemo } from 'react'
import { toConfigurationInput } from '../../draft/configuration.ts'
import type { FieldIssue } from '../../draft/validate.ts'
import type { FlagDraftHandle } from '../../user-drafts/flag-draft-handle.ts'

/** Returns the draft as a change for a preview; `undefined` if it is unchanged or not valid. */
export function usePreviewChanges(
  { flag, draft, isChanged }: FlagDraftHandle,
  issues: readonly FieldIssue[],
): readonly PreviewChange[] | undefined {
  const isReady = isChanged && issues.length === 0
  return useMemo((): readonly PreviewChange[] | undefined => {
    if (!isReady) return undefined
    const configuration = toConfigurationInput(draft.current, draft.base)
    return [{ kind: 'flag_configuration', flagId: flag.id, configuration }]
  }, [isReady, draft, flag.id])
}
