import { useLayoutEffect, useMemo, useSyncExternalStore } from 'react'
import type { History } from '../draft/history.ts'
import type { RecordDraftStore } from './record-draft-store.ts'

/**
 * Returns the draft of a loaded record. It starts without changes, or as it was before a reload.
 * `start` returns a draft without changes, and must be the same function in every call.
 */
export function useRecordDraft<
  Loaded extends { readonly id: string },
  Draft extends History<unknown>,
  Action,
>(
  store: RecordDraftStore<Loaded, Draft, Action>,
  loaded: Loaded,
  start: (loaded: Loaded) => Draft,
): Draft {
  useLayoutEffect(() => store.receive(loaded), [store, loaded])
  const draft = useSyncExternalStore(store.subscribe, () => store.draftOf(loaded.id))
  const first = useMemo(() => start(loaded), [start, loaded])
  return draft ?? first
}
