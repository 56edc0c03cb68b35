import { useSyncExternalStore } from 'react'
import { randomId } from '../api/random-id.ts'
import type { Session } from '../session/session.ts'
import { useSession } from '../session/use-session.ts'
import {
  createDraftStorage,
  createFlagFieldsDraftStorage,
  createNewFlagDraftStorage,
  createSegmentDraftStorage,
  type DraftPlace,
  type NewFlagDraftStorage,
} from './draft-storage.ts'
import { FlagDraftStore } from './flag-draft-store.ts'
import { createFlagFieldsStore, type FlagFieldsStore } from './flag-fields-store.ts'
import { createSegmentDraftStore, type SegmentDraftStore } from './segment-draft-store.ts'

/** The drafts of a user. */
export interface UserDrafts {
  readonly userId: string
  /** The drafts of configurations, by environment. */
  readonly configurations: FlagDraftStore
  /** The drafts of the fields that a flag has in all environments. */
  readonly fields: FlagFieldsStore
  readonly segments: SegmentDraftStore
  /** The forms of new flags, by project. */
  readonly newFlags: NewFlagDraftStorage
}

const draftsOfSessions = new WeakMap<Session, UserDrafts>()
const watchedSessions = new WeakSet<Session>()

/** Returns the drafts of the user who is logged in. The drafts of another user are not shown. */
function userDraftsOf(session: Session): UserDrafts {
  const userId = session.state().logIn?.user.id ?? ''
  const known = draftsOfSessions.get(session)
  if (known?.userId === userId) return known
  const store = window.sessionStorage
  const drafts = {
    userId,
    configurations: new FlagDraftStore(createDraftStorage(store, userId), randomId),
    fields: createFlagFieldsStore(createFlagFieldsDraftStorage(store, userId)),
    segments: createSegmentDraftStore(createSegmentDraftStorage(store, userId)),
    newFlags: createNewFlagDraftStorage(store, userId),
  }
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
    drafts?.segments.clear()
    drafts?.newFlags.clear()
  })
  window.addEventListener('beforeunload', (event) => {
    const drafts = draftsOfSessions.get(session)
    if (drafts !== undefined && hasChanges(drafts)) event.preventDefault()
  })
}

function hasChanges({ configurations, fields, segments, newFlags }: UserDrafts): boolean {
  const changed = [configurations.changedPlaces(), fields.changedIds(), segments.changedIds()]
  const all: readonly (readonly unknown[])[] = [...changed, newFlags.list()]
  return all.some(({ length }) => length > 0)
}

/** Returns the drafts of the user. */
export function useUserDrafts(): UserDrafts {
  return userDraftsOf(useSession())
}

/** Returns the flags and environments with unpublished changes, for marks and questions. */
export function useChangedPlaces(): readonly DraftPlace[] {
  const { configurations } = useUserDrafts()
  return useSyncExternalStore(configurations.subscribe, configurations.changedPlaces)
}

/** Returns the ids of the flags with unsaved changes of the fields of all environments. */
export function useChangedFlags(): readonly string[] {
  const { fields } = useUserDrafts()
  return useSyncExternalStore(fields.subscribe, fields.changedIds)
}

/** Returns the ids of the segments with unsaved changes. */
export function useChangedSegments(): readonly string[] {
  const { segments } = useUserDrafts()
  return useSyncExternalStore(segments.subscribe, segments.changedIds)
}
