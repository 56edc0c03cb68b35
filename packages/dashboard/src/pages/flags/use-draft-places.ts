import { useEffect, useState } from 'react'
import { useSessionState } from '../../session/use-session.ts'

/** Returns whether this tab has a draft of a flag in an environment. */
export type HasDraft = (environmentId: string, flagId: string) => boolean

const none: HasDraft = () => false

/** Finds the drafts of the user in this tab. Their code is loaded after the list is shown. */
export function useDraftPlaces(): HasDraft {
  const userId = useSessionState().logIn?.user.id
  const [hasDraft, setHasDraft] = useState(() => none)
  useEffect(() => {
    let isShown = true
    const read = async (id: string) => {
      const { createDraftStorage } = await import('../../draft/draft-storage.ts')
      const places = createDraftStorage(sessionStorage, id).list()
      const found = new Set(places.map((place) => `${place.environmentId} ${place.flagId}`))
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
  return (environmentId, flagId) => places.has(`${environmentId} ${flagId}`)
}
