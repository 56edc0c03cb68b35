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
import { isChanged } from '../draft/history.ts'

interface Entry {
  readonly draft: FlagFieldsDraft
  /** The flag from which the draft started. */
  readonly flag: FlagView
}

/** The drafts of names, tags and variations of flags. They are only in memory. */
export class FlagFieldsStore {
  readonly #entries = new Map<string, Entry>()
  readonly #listeners = new Set<() => void>()

  /** Calls a listener after every change; returns a function that ends this. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Returns the draft of a flag. `undefined` until the flag is loaded. */
  draftOf(flagId: string): FlagFieldsDraft | undefined {
    return this.#entries.get(flagId)?.draft
  }

  /** Returns `true` if any flag has unsaved changes. */
  hasChanges(): boolean {
    return [...this.#entries.values()].some(({ draft }) => isChanged(draft))
  }

  /** Takes a flag that was loaded. A draft with changes keeps its base. */
  receive(flag: FlagView): void {
    const entry = this.#entries.get(flag.id)
    if (entry?.flag === flag || (entry !== undefined && isChanged(entry.draft))) return
    this.#set(flag.id, { draft: startFlagFieldsDraft(flag), flag })
  }

  /** Applies an action to the draft of a flag. */
  dispatch(flagId: string, action: FlagFieldsAction): void {
    const entry = this.#entries.get(flagId)
    if (entry === undefined) return
    this.#set(flagId, { ...entry, draft: reduceFlagFields(entry.draft, action) })
  }

  /**
   * Continues a draft from the flag after a save. With `isComplete`, nothing is left of it.
   * Otherwise the changes that are not saved yet are kept; created variations are found by key.
   */
  continueFrom(flag: FlagView, isComplete: boolean): void {
    const started = startFlagFieldsDraft(flag)
    const before = this.#entries.get(flag.id)?.draft
    if (isComplete || before === undefined) {
      this.#set(flag.id, { draft: started, flag })
      return
    }
    const current = mergedFields(before, started.base)
    this.#set(flag.id, { draft: { ...started, current }, flag })
  }

  /** Removes all drafts. */
  clear(): void {
    this.#entries.clear()
    for (const listener of this.#listeners) listener()
  }

  #set(flagId: string, entry: Entry): void {
    this.#entries.set(flagId, entry)
    for (const listener of this.#listeners) listener()
  }
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
