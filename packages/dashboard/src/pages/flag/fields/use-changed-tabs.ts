import type { FlagView } from '@ff/protocol/management'
import { isSame } from '../../../draft/configuration.ts'
import { startFlagFieldsDraft } from '../../../draft/flag-edits.ts'
import { useRecordDraft } from '../../../user-drafts/use-record-draft.ts'
import { useUserDrafts } from '../../../user-drafts/use-user-drafts.ts'

/** Returns the tabs with unsaved changes of the fields that a flag has in all environments. */
export function useChangedTabs(flag: FlagView): readonly ('variations' | 'settings')[] {
  const { base, current } = useRecordDraft(useUserDrafts().fields, flag, startFlagFieldsDraft)
  const { variations: before, ...settingsBefore } = base
  const { variations, ...settings } = current
  return [
    ...(isSame(before, variations) ? [] : (['variations'] as const)),
    ...(isSame(settingsBefore, settings) ? [] : (['settings'] as const)),
  ]
}
