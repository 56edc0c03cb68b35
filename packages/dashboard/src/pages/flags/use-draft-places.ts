import { useEffect, useState } from 'react'
import { useSessionState } from '../../session/use-session.ts'

/**
 * Returns whether this tab has a draft of a flag in an environment; with `null`, a draft of the
 * fields that the flag has in all environments.
 */
export type HasDraft = (environmentId: string | null, flagId: string) => boolean

const none: HasDraft = () => false

/** Finds the drafts of the user in this tab. Their code is loaded after the list is shown. */
export function useDraftPlaces(): HasDraft {
  const userId = useSessionState().logIn?.user.id
  const [hasDraft, setHasDraft] = useState(() => none)
  useEffect(() => {
    let isShown = true
    const read = async (id: string) => {
      const storages = await import('../../user-drafts/draft-storage.ts')
      const places = storages.createDraftStorage(sessionStorage, id).list()
      const flags = storages.createFlagFieldsDraftStorage(sessionStorage, id).list()
      const found = new Set([
        ...places.map(({ environmentId, flagId }) => nameOf(environmentId, flagId)),
        ...flags.map((flag) => nameOf(null, flag.id)),
      ])
      if (isShown && found.size > 0) setHasDraft(() => hasIn(found))
    }
    if (userId !== undefined) void read(userId)
    return () => {
      isShown = false
    }
  }, [userId])
  return hasDraft
}

function hasIn(places: ReadonlySet<string>): HasDraft {
  return (environmentId, flagId) => places.has(nameOf(environmentId, flagId))
}

function nameOf(environmentId: string | null, flagId: string): string {
  return JSON.stringify([environmentId, flagId])
}
