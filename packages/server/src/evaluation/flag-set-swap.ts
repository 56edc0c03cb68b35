import type { DefinitionDelta } from '@ff/core/changes'
import type { FlagSetsByKind } from './flag-set-entry.ts'

/** New flag sets of an environment. */
export interface FlagSetSwap {
  readonly environmentId: string
  readonly after: FlagSetsByKind
  /** The previous flag sets; absent after the first load. */
  readonly before?: FlagSetsByKind | undefined
  /** The changes from `before.server` to `after.server`; absent after the first load. */
  readonly delta?: DefinitionDelta | undefined
}

/** A function that is called after the flag sets of an environment were loaded. */
export type FlagSetListener = (swap: FlagSetSwap) => void

/** Work that is done, in time slices, before new flag sets replace the old ones. */
export type FlagSetPreparation = (swap: FlagSetSwap) => Generator<undefined, void>
