import { useSyncExternalStore } from 'react'
import { randomId } from '../api/random-id.ts'
import { createDraftStorage, type DraftPlace } from '../draft/draft-storage.ts'
import type { Session } from '../session/session.ts'
import { useSession } from '../session/use-session.ts'
import { FlagDraftStore } from './flag-draft-store.ts'
import { FlagFieldsStore } from './flag-fields-store.ts'

/** The drafts of a user. */
export interface UserDrafts {
  readonly userId: string
  /** The drafts of configurations, by environment. */
  readonly configurations: FlagDraftStore
  /** The drafts of the fields that a flag has in all environments. */
  readonly fields: FlagFieldsStore
}

const draftsOfSessions = new WeakMap<Session, UserDrafts>()
const watchedSessions = new WeakSet<Session>()

/** Returns the drafts of the user who is logged in. The drafts of another user are not shown. */
function flagDraftsOf(session: Session): UserDrafts {
  const userId = session.state().logIn?.user.id ?? ''
  const known = draftsOfSessions.get(session)
  if (known?.userId === userId) return known
  const storage = createDraftStorage(window.sessionStorage, userId)
  const configurations = new FlagDraftStore(storage, randomId)
  const drafts = { userId, configurations, fields: new FlagFieldsStore() }
  draftsOfSessions.set(session, drafts)
  watch(session)
  return drafts
}

/** Removes the drafts when the user logs out, and asks before the tab with drafts is closed. */
function watch(session: Session): void {
  if (watchedSessions.has(session)) return
  watchedSessions.add(session)
  session.subscribe(() => {
    if (session.state().status !== 'loggedOut') return
    const drafts = draftsOfSessions.get(session)
    draftsOfSessions.delete(session)
    drafts?.configurations.clear()
    drafts?.fields.clear()
  })
  window.addEventListener('beforeunload', (event) => {
    const drafts = draftsOfSessions.get(session)
    if (drafts === undefined) return
    const isChanged = drafts.configurations.changedPlaces().length > 0 || drafts.fields.hasChanges()
    if (isChanged) event.preventDefault()
  })
}

/** Returns the drafts of the user. */
export function useFlagDrafts(): UserDrafts {
  return flagDraftsOf(useSession())
}

/** Returns the flags and environments with unpublished changes, for marks and questions. */
export function useChangedPlaces(): readonly DraftPlace[] {
  const { configurations } = useFlagDrafts()
  return useSyncExternalStore(configurations.subscribe, configurations.changedPlaces)
}
