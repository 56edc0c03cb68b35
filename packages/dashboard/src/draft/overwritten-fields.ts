import type { FlagView } from '@ff/protocol/management'
import { findById, isSame } from './configuration.ts'
import { type FlagFieldsDraft, startFlagFieldsDraft } from './flag-edits.ts'

const SETTINGS = ['name', 'description', 'tags', 'clientVisible'] as const

/** The values of a flag that a draft would replace, although they are newer than its base. */
export interface OverwrittenFields {
  readonly settings: readonly (typeof SETTINGS)[number][]
  /** The keys of variations. */
  readonly variations: readonly string[]
}

/** Returns the fields that both a draft and the flag have changed since the draft began. */
export function overwrittenFields(draft: FlagFieldsDraft, flag: FlagView): OverwrittenFields {
  const { base, current } = draft
  const theirs = startFlagFieldsDraft(flag).base
  const isOverwritten = (before: unknown, now: unknown, mine: unknown) =>
    !isSame(before, now) && !isSame(before, mine) && !isSame(now, mine)
  return {
    settings: SETTINGS.filter((field) => isOverwritten(base[field], theirs[field], current[field])),
    variations: base.variations.flatMap((before) => {
      const now = findById(theirs.variations, before.id)
      const mine = findById(current.variations, before.id)
      // A variation that was deleted elsewhere cannot be overwritten.
      return now !== undefined && isOverwritten(before, now, mine) ? [before.key] : []
    }),
  }
}
