import { isSame } from '../draft/configuration.ts'
import { type History, isChanged } from '../draft/history.ts'
import type { DraftStorage, RecordPlace } from './draft-storage.ts'

/** How the drafts of one kind of record begin and change. */
export interface RecordDraftKind<Loaded, Draft, Action> {
  /** Returns a draft without changes. */
  readonly start: (loaded: Loaded) => Draft
  /** Returns a draft after an action. An action that changes nothing returns the same draft. */
  readonly reduce: (draft: Draft, action: Action) => Draft
}

interface Entry<Loaded, Draft> {
  readonly draft: Draft
  /** The newest record that is known. */
  readonly loaded: Loaded
  /** `true` if the draft did not start from `loaded`. */
  readonly isOld: boolean
}

/** The drafts of one user for records of one kind. They outlive the components that show them. */
export class RecordDraftStore<
  Loaded extends { readonly id: string },
  Draft extends History<unknown>,
  Action,
> {
  readonly #entries = new Map<string, Entry<Loaded, Draft>>()
  readonly #listeners = new Set<() => void>()
  readonly #storage: DraftStorage<RecordPlace, Draft>
  readonly #kind: RecordDraftKind<Loaded, Draft, Action>
  #changedIds: readonly string[]

  constructor(
    storage: DraftStorage<RecordPlace, Draft>,
    kind: RecordDraftKind<Loaded, Draft, Action>,
  ) {
    this.#storage = storage
    this.#kind = kind
    this.#changedIds = storage.list().map(({ id }) => id)
  }

  /** Calls a listener after every change; returns a function that ends this. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Returns the ids of all records with changes. A change of the list makes a new array. */
  readonly changedIds = (): readonly string[] => this.#changedIds

  /** Returns the draft of a record. `undefined` until the record is loaded. */
  draftOf(id: string): Draft | undefined {
    return this.#entries.get(id)?.draft
  }

  /**
   * Takes a record that was loaded. A draft with changes keeps its base; other drafts start from
   * the loaded record, also one whose changes are saved already. A draft that was stored before a reload is restored.
   */
  receive(loaded: Loaded): void {
    const entry = this.#entries.get(loaded.id)
    if (entry?.loaded === loaded) return
    const known = entry?.draft ?? this.#storage.load({ id: loaded.id })
    const isPublished =
      known !== undefined && isSame(known.current, this.#kind.start(loaded).current)
    if (known === undefined || !isChanged(known) || isPublished) this.replace(loaded, undefined)
    else this.#set({ draft: known, loaded, isOld: true })
  }

  /**
   * Applies an action to the draft of a record. Does nothing if there is none. A draft whose last
   * change is undone starts from the newest record.
   */
  dispatch(id: string, action: Action): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    const draft = this.#kind.reduce(entry.draft, action)
    if (entry.isOld && !isChanged(draft)) this.replace(entry.loaded, undefined)
    else if (draft !== entry.draft) this.#set({ ...entry, draft })
  }

  /** Replaces the draft of a record, for example after a save. `undefined` is one without changes. */
  replace(loaded: Loaded, draft: Draft | undefined): void {
    this.#set({ draft: draft ?? this.#kind.start(loaded), loaded, isOld: false })
  }

  /** Ends the draft of a record; the newest record that is known is shown. */
  discard(id: string): void {
    const entry = this.#entries.get(id)
    if (entry !== undefined) this.replace(entry.loaded, undefined)
  }

  /** Removes the draft of a record that was deleted. */
  forget(id: string): void {
    this.#entries.delete(id)
    this.#storage.remove({ id })
    this.#publish(this.#changedIds.filter((each) => each !== id))
  }

  /** Removes all drafts, and those of other users, from memory and from the storage. */
  clear(): void {
    this.#entries.clear()
    this.#storage.clear()
    this.#publish([])
  }

  #set(entry: Entry<Loaded, Draft>): void {
    const { id } = entry.loaded
    this.#entries.set(id, entry)
    this.#storage.save({ id }, entry.draft)
    const wasChanged = this.#changedIds.includes(id)
    const isStillChanged = isChanged(entry.draft)
    if (wasChanged === isStillChanged) this.#publish(this.#changedIds)
    else if (isStillChanged) this.#publish([...this.#changedIds, id])
    else this.#publish(this.#changedIds.filter((each) => each !== id))
  }

  #publish(changedIds: readonly string[]): void {
    this.#changedIds = changedIds
    for (const listener of this.#listeners) listener()
  }
}
