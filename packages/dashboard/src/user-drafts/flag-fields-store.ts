import type { FlagView } from '@ff/protocol/management'
import { findById, isSame } from '../draft/configuration.ts'
import {
  type FlagFields,
  type FlagFieldsAction,
  type FlagFieldsDraft,
  reduceFlagFields,
  startFlagFieldsDraft,
  type VariationFields,
} from '../draft/flag-edits.ts'
import type { DraftStorage, RecordPlace } from './draft-storage.ts'
import { RecordDraftStore } from './record-draft-store.ts'

/** The drafts of names, tags and variations of flags. */
export type FlagFieldsStore = RecordDraftStore<FlagView, FlagFieldsDraft, FlagFieldsAction>

/** Creates the store for the drafts of the fields of flags. */
export function createFlagFieldsStore(
  storage: DraftStorage<RecordPlace, FlagFieldsDraft>,
): FlagFieldsStore {
  return new RecordDraftStore(storage, { start: startFlagFieldsDraft, reduce: reduceFlagFields })
}

/**
 * Returns a draft that continues from the flag after a part of it was saved. The changes that are
 * not saved yet are kept; created variations are found by key.
 */
export function continuedFields(draft: FlagFieldsDraft, flag: FlagView): FlagFieldsDraft {
  const started = startFlagFieldsDraft(flag)
  return { ...started, current: mergedFields(draft, started.base) }
}

/** Returns the fields of a draft that the user changed, and those of `theirs` that are unchanged. */
function mergedFields({ base, current }: FlagFieldsDraft, theirs: FlagFields): FlagFields {
  const pick = <F extends keyof FlagFields>(field: F) =>
    isSame(base[field], current[field]) ? theirs[field] : current[field]
  return {
    name: pick('name'),
    description: pick('description'),
    tags: pick('tags'),
    clientVisible: pick('clientVisible'),
    variations: mergedVariations(base.variations, current.variations, theirs.variations),
  }
}

function mergedVariations(
  base: readonly VariationFields[],
  current: readonly VariationFields[],
  theirs: readonly VariationFields[],
): readonly VariationFields[] {
  const kept = current.flatMap((each) => {
    const saved = theirs.find(({ key }) => key === each.key)
    const before = findById(base, each.id)
    if (saved === undefined) return before !== undefined && isSame(before, each) ? [] : [each]
    return before !== undefined && isSame(before, each) ? [saved] : [{ ...each, id: saved.id }]
  })
  const known = new Set([...base, ...current].map(({ key }) => key))
  return [...kept, ...theirs.filter(({ key }) => !known.has(key))]
}
