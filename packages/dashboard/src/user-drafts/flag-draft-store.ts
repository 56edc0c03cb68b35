import { findById, isSame } from '../draft/configuration.ts'
import {
  type DraftStart,
  type FlagDraft,
  type FlagDraftAction,
  flagDraftReducer,
  startFlagDraft,
} from '../draft/flag-draft.ts'
import { isChanged } from '../draft/history.ts'
import type { DraftPlace, DraftStorage } from './draft-storage.ts'

interface Entry {
  readonly draft: FlagDraft
  /** The newest published configuration that is known. */
  readonly published: DraftStart
  /** The `ETag` of the last configuration that was loaded. */
  readonly loadedEtag: string
}

/** The drafts of the flags of one user. They outlive the components that show them. */
export class FlagDraftStore {
  readonly #entries = new Map<string, Entry>()
  readonly #listeners = new Set<() => void>()
  readonly #storage: DraftStorage
  readonly #reduce: (draft: FlagDraft, action: FlagDraftAction) => FlagDraft
  #changedPlaces: readonly DraftPlace[]

  /** `newId` returns a UUID for each new rule and rollout. */
  constructor(storage: DraftStorage, newId: () => string) {
    this.#storage = storage
    this.#reduce = flagDraftReducer(newId)
    this.#changedPlaces = storage.list()
  }

  /** Calls a listener after every change; returns a function that ends this. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Returns the places of all drafts with changes. A change of the list makes a new array. */
  readonly changedPlaces = (): readonly DraftPlace[] => this.#changedPlaces

  /** Returns the draft of a place. `undefined` until its configuration is loaded. */
  draftOf(place: DraftPlace): FlagDraft | undefined {
    return this.#entries.get(keyOf(place))?.draft
  }

  /**
   * Takes a configuration that was loaded. A draft with changes keeps its base; other drafts start
   * from the loaded configuration, also one whose changes are published already, for example from
   * the tab of which this one is a duplicate. A draft that was stored before a reload is restored.
   */
  receive(place: DraftPlace, loaded: DraftStart): void {
    const entry = this.#entries.get(keyOf(place))
    if (entry?.loadedEtag === loaded.etag) return
    const known = entry?.draft ?? this.#storage.load(place)
    const isKept = known !== undefined && isChanged(known) && !isPublished(known, loaded)
    const draft = isKept ? known : startFlagDraft(loaded)
    this.#set(place, { draft, published: loaded, loadedEtag: loaded.etag })
  }

  /**
   * Applies an action to the draft of a place. Does nothing if there is none. A draft whose last
   * change is undone starts from the newest published configuration.
   */
  dispatch(place: DraftPlace, action: FlagDraftAction): void {
    const entry = this.#entries.get(keyOf(place))
    if (entry === undefined) return
    const draft = this.#reduce(entry.draft, action)
    const isOld = draft.etag !== entry.published.etag
    if (isOld && !isChanged(draft)) this.discard(place)
    else if (draft !== entry.draft) this.#set(place, { ...entry, draft })
  }

  /** Replaces the draft of a place, for example after a merge or a publish. */
  replace(place: DraftPlace, draft: FlagDraft): void {
    const { base, etag, version } = draft
    const loadedEtag = this.#entries.get(keyOf(place))?.loadedEtag ?? etag
    this.#set(place, { draft, published: { base, etag, version }, loadedEtag })
  }

  /** Ends the draft of a place; the newest published configuration is shown. */
  discard(place: DraftPlace): void {
    const entry = this.#entries.get(keyOf(place))
    if (entry !== undefined) this.#set(place, { ...entry, draft: startFlagDraft(entry.published) })
  }

  /** Removes the drafts of a flag that was deleted, in all environments. */
  forget(flagId: string): void {
    const places = [...this.#storage.list(), ...this.#changedPlaces]
    for (const place of places.filter((each) => each.flagId === flagId)) this.drop(place)
  }

  /** Removes the draft of a place that does not exist any more. */
  drop(place: DraftPlace): void {
    this.#entries.delete(keyOf(place))
    this.#storage.remove(place)
    this.#publish(this.#changedPlaces.filter((each) => keyOf(each) !== keyOf(place)))
  }

  /** Removes all drafts, and those of other users, from memory and from the storage. */
  clear(): void {
    this.#entries.clear()
    this.#storage.clear()
    this.#publish([])
  }

  #set(place: DraftPlace, entry: Entry): void {
    this.#entries.set(keyOf(place), entry)
    this.#storage.save(place, entry.draft)
    const others = this.#changedPlaces.filter((each) => keyOf(each) !== keyOf(place))
    const wasChanged = others.length < this.#changedPlaces.length
    const isStillChanged = isChanged(entry.draft)
    const changed = isStillChanged ? [...others, place] : others
    this.#publish(isStillChanged === wasChanged ? this.#changedPlaces : changed)
  }

  #publish(changedPlaces: readonly DraftPlace[]): void {
    this.#changedPlaces = changedPlaces
    for (const listener of this.#listeners) listener()
  }
}

/** Returns `true` if a configuration is what a draft would publish. The server adds salts. */
function isPublished({ current }: FlagDraft, { base }: DraftStart): boolean {
  const rollouts = current.rollouts.map((rollout) => {
    const saved = findById(base.rollouts, rollout.id)
    if (saved === undefined || rollout.salt !== '') return rollout
    return { ...rollout, salt: saved.salt, startAt: rollout.startAt ?? saved.startAt }
  })
  return isSame({ ...current, rollouts, revision: base.revision }, base)
}

function keyOf({ environmentId, flagId }: DraftPlace): string {
  return JSON.stringify([environmentId, flagId])
}
