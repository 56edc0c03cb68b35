import type { PreviewChange } from '@ff/protocol/management'
import { toConfigurationInput } from '../draft/configuration.ts'
import type { FlagDraftHandle } from '../user-drafts/flag-draft-handle.ts'

/** Returns the change that a draft makes, for its preview. `undefined` if the draft has no changes. */
export function draftChanges(
  handle: Pick<FlagDraftHandle, 'flag' | 'draft' | 'isChanged'>,
): readonly PreviewChange[] | undefined {
  const { flag, draft, isChanged } = handle
  if (!isChanged) return undefined
  const configuration = toConfigurationInput(draft.current, draft.base)
  return [{ kind: 'flag_configuration', flagId: flag.id, configuration }]
}
