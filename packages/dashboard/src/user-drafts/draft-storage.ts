import * as z from 'zod'
import type { FlagDraft } from '../draft/flag-draft.ts'
import type { FlagFieldsDraft } from '../draft/flag-edits.ts'
import { type History, isChanged, restoredHistory } from '../draft/history.ts'
import type { SegmentDraft } from '../draft/segment-draft.ts'
import {
  type NewFlagFields,
  storedFlagDraft,
  storedFlagFieldsDraft,
  storedNewFlagDraft,
  storedSegmentDraft,
} from './stored-drafts.ts'

/** The part of the `Storage` of a browser that drafts need. */
export type DraftStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/** The flag and the environment of a draft. */
export interface DraftPlace {
  readonly environmentId: string
  readonly flagId: string
}

/** The segment of a draft, or the flag of a draft of its fields. */
export interface RecordPlace {
  readonly id: string
}

/** The drafts of one user and of one kind that survive a reload of the page. */
export interface DraftStorage<Place = DraftPlace, Draft = FlagDraft> {
  /**
   * Stores a draft, or removes it if it has no changes. Returns `false` if the store is full or not
   * available; the draft is then only in memory.
   */
  readonly save: (place: Place, draft: Draft) => boolean
  /** Returns a stored draft without its steps. `undefined` if there is none or it is damaged. */
  readonly load: (place: Place) => Draft | undefined
  readonly remove: (place: Place) => void
  /** Returns the places of all stored drafts of the user and of this kind. */
  readonly list: () => readonly Place[]
  /** Removes the drafts of every user and kind, for example when the user logs out. */
  readonly clear: () => void
}

const ANY_PREFIX = 'ff-draft:'

/** The kind of drafts that a storage holds. */
interface DraftKind<Place extends object, Stored> {
  /** The beginning of the keys, with the version of the format. Other entries are ignored. */
  readonly prefix: string
  /** The fields of a place, in the order of a key. */
  readonly place: readonly (keyof Place)[]
  readonly schema: z.ZodType<Stored>
}

/** Returns the stored drafts of a user. `store` is, for example, `sessionStorage`. */
export function createDraftStorage(store: DraftStore, userId: string): DraftStorage {
  return createStorage(store, userId, {
    prefix: `${ANY_PREFIX}1:`,
    place: ['environmentId', 'flagId'],
    schema: storedFlagDraft,
  })
}

/** Returns the stored drafts of segments of a user. */
export function createSegmentDraftStorage(
  store: DraftStore,
  userId: string,
): DraftStorage<RecordPlace, SegmentDraft> {
  return createStorage(store, userId, {
    prefix: `${ANY_PREFIX}segment:1:`,
    place: ['id'],
    schema: storedSegmentDraft,
  })
}

/** Returns the stored drafts of the fields of flags of a user. */
export function createFlagFieldsDraftStorage(
  store: DraftStore,
  userId: string,
): DraftStorage<RecordPlace, FlagFieldsDraft> {
  return createStorage(store, userId, {
    prefix: `${ANY_PREFIX}flag-fields:1:`,
    place: ['id'],
    schema: storedFlagFieldsDraft,
  })
}

/** The project of a draft of a new flag. */
export interface NewFlagPlace {
  readonly projectId: string
}

/** The stored drafts of new flags of a user. */
export type NewFlagDraftStorage = DraftStorage<NewFlagPlace, History<NewFlagFields>>

/** Returns the stored drafts of new flags of a user. */
export function createNewFlagDraftStorage(store: DraftStore, userId: string): NewFlagDraftStorage {
  return createStorage(store, userId, {
    prefix: `${ANY_PREFIX}new-flag:1:`,
    place: ['projectId'],
    schema: storedNewFlagDraft,
  })
}

type StoredDraft = Pick<History<unknown>, 'base' | 'current'>

function createStorage<Place extends object, Stored extends StoredDraft>(
  store: DraftStore,
  userId: string,
  kind: DraftKind<Place, Stored>,
): DraftStorage<Place, Stored & History<Stored['base']>> {
  const keyOf = (place: Place) =>
    kind.prefix + JSON.stringify([userId, ...kind.place.map((field) => place[field])])
  const remove = (place: Place) => withoutFailure(() => store.removeItem(keyOf(place)))
  const load = (place: Place) => parseDraft(kind, read(store, keyOf(place)))
  return {
    save: (place, draft) => {
      if (!isChanged(draft)) return remove(place)
      const { data } = kind.schema.safeParse(draft)
      const write = () => store.setItem(keyOf(place), JSON.stringify(data))
      if (data !== undefined && withoutFailure(write)) return true
      // The older draft in the store must not be restored in place of this one.
      remove(place)
      return false
    },
    load,
    remove,
    list: () =>
      keysOf(store).flatMap((key) => {
        const place = placeOf(kind, key, userId)
        return place !== undefined && load(place) !== undefined ? [place] : []
      }),
    clear: () => {
      const keys = keysOf(store).filter((key) => key.startsWith(ANY_PREFIX))
      for (const key of keys) withoutFailure(() => store.removeItem(key))
    },
  }
}

/** Runs an access to a store. Returns `false` if the store is full or access is denied. */
function withoutFailure(access: () => void): boolean {
  try {
    access()
    return true
  } catch {
    return false
  }
}

function read(store: DraftStore, key: string): string | null {
  let text: string | null = null
  withoutFailure(() => {
    text = store.getItem(key)
  })
  return text
}

function keysOf(store: DraftStore): readonly string[] {
  const keys: string[] = []
  withoutFailure(() => {
    for (let index = 0; index < store.length; index += 1) keys.push(store.key(index) ?? '')
  })
  return keys
}

function parseDraft<Place extends object, Stored extends StoredDraft>(
  { schema }: DraftKind<Place, Stored>,
  text: string | null,
): (Stored & History<Stored['base']>) | undefined {
  const { data } = schema.safeParse(parseJson(text ?? ''))
  return data && { ...restoredHistory<Stored['base']>(data.base, data.current), ...data }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function placeOf<Place extends object, Stored>(
  { prefix, place }: DraftKind<Place, Stored>,
  key: string,
  userId: string,
): Place | undefined {
  if (!key.startsWith(prefix)) return undefined
  const parsed = z.array(z.string()).safeParse(parseJson(key.slice(prefix.length)))
  const [user, ...ids] = parsed.data ?? []
  if (user !== userId || ids.length !== place.length) return undefined
  return Object.fromEntries(place.map((field, index) => [field, ids[index]])) as Place
}
