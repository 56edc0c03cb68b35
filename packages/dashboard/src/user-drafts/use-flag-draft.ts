import type { Environment, FlagView } from '@ff/protocol/management'
import { useLayoutEffect, useMemo, useSyncExternalStore } from 'react'
import type { FlagDraft, FlagDraftAction } from '../draft/flag-draft.ts'
import { isChanged } from '../draft/history.ts'
import { useConfiguration } from '../queries/use-queries.ts'
import type { FlagDraftHandle } from './flag-draft-handle.ts'
import { useUserDrafts } from './use-user-drafts.ts'

/** What the page shows of a draft: its handle, or why there is none yet. */
export interface LoadedFlagDraft {
  /** `undefined` until the configuration is loaded. */
  readonly handle: FlagDraftHandle | undefined
  readonly error: unknown
  readonly retry: () => void
}

/**
 * Returns the draft of a flag in an environment. It starts from the published configuration, and a
 * draft with changes is kept while the page shows another flag, tab or environment.
 */
export function useFlagDraft(flag: FlagView, environment: Environment): LoadedFlagDraft {
  const { configurations: store } = useUserDrafts()
  const { id: flagId, projectId } = flag
  const { id: environmentId } = environment
  const { data, error, refetch } = useConfiguration({ projectId, environmentId, flagId })
  useLayoutEffect(() => {
    if (data?.etag === undefined) return
    const start = { base: data.data, etag: data.etag, version: null }
    store.receive({ environmentId, flagId }, start)
  }, [store, environmentId, flagId, data])
  const draft = useSyncExternalStore(store.subscribe, () =>
    store.draftOf({ environmentId, flagId }),
  )
  const handle = useMemo((): FlagDraftHandle | undefined => {
    if (draft === undefined) return undefined
    const place = { environmentId, flagId }
    return {
      ...{ flag, environment, draft, isChanged: isChanged(draft) },
      dispatch: (action: FlagDraftAction) => store.dispatch(place, action),
      replace: (next: FlagDraft) => store.replace(place, next),
      discard: () => store.discard(place),
    }
  }, [store, flag, environment, draft, environmentId, flagId])
  return { handle, error, retry: () => void refetch() }
}
