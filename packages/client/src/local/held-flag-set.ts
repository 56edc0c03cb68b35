import { compileFlagSet, type Extensions, type FlagSet, type FlagSetDefinition } from '@ff/core'
import { mergeChanges } from '@ff/core/changes'
import { FlagSetRoot } from '@ff/core/flag-set-root'
import { type FlagSetDiff, type FlagSetUpdate, isFlagSetDiff } from '@ff/protocol/sdk'

/** A compiled flag set and its root. Immutable. */
export interface HeldFlagSet {
  readonly flagSet: FlagSet
  readonly root: FlagSetRoot
}

/**
 * The reason why an update is not used:
 *
 * - `gap`: it contains the changes of another version.
 * - `older`: its version is lower, and the store has not been restored.
 * - `root`: its definitions do not have the root that it names.
 * - `definition`: its definitions cannot be compiled.
 */
export type Refusal = 'gap' | 'older' | 'root' | 'definition'

/** A whole flag set. The root is checked if it is present. */
export interface WholeDefinition extends FlagSetDefinition {
  readonly root?: string
}

/** The circumstances of an update. */
export interface UpdateOptions {
  readonly extensions?: Extensions | undefined
  /** `true` if the store no longer has the version that the client has. */
  readonly isRestored?: boolean
}

/**
 * Returns the flag set after an update, `held` itself if the update contains nothing new, or the
 * reason why the update is not used. Never throws.
 */
export function heldAfter(
  held: HeldFlagSet | undefined,
  update: FlagSetUpdate | WholeDefinition,
  options: UpdateOptions = {},
): HeldFlagSet | Refusal {
  try {
    return isFlagSetDiff(update as FlagSetUpdate)
      ? afterDiff(held, update as FlagSetDiff, options)
      : afterWhole(held, update as WholeDefinition, options)
  } catch {
    // The definitions are too deep, contain an id twice, or have no list where one is necessary.
    return 'definition'
  }
}

function afterDiff(
  held: HeldFlagSet | undefined,
  { from, to, root, ...changes }: FlagSetDiff,
  options: UpdateOptions,
): HeldFlagSet | Refusal {
  if (held === undefined || from !== held.flagSet.version || to < from) return 'gap'
  const { flags, segments } = changes
  if (to === from) {
    if (flags.length + segments.length > 0) return 'gap'
    return root === held.root.root ? held : 'root'
  }
  // The root and the merge treat repeated changes differently.
  if (hasRepeatedId(flags) || hasRepeatedId(segments)) return 'definition'
  const after = held.root.afterChanges(changes)
  if (after.root !== root) return 'root'
  const definition = mergeChanges(held.flagSet.definition, { ...changes, version: to })
  return compiled(definition, after, { ...options, previous: held.flagSet })
}

function afterWhole(
  held: HeldFlagSet | undefined,
  { root, ...definition }: WholeDefinition,
  { extensions, isRestored = false }: UpdateOptions,
): HeldFlagSet | Refusal {
  const { version } = definition
  const previous = held?.flagSet
  if (previous !== undefined && version < previous.version && !isRestored) return 'older'
  if (version === previous?.version && root === held?.root.root && held) return held
  const after = (held?.root ?? FlagSetRoot.empty()).after(definition)
  if (root !== undefined && after.root !== root) return 'root'
  return compiled(definition, after, { extensions, previous })
}

function compiled(
  definition: FlagSetDefinition,
  root: FlagSetRoot,
  options: {
    readonly extensions?: Extensions | undefined
    readonly previous?: FlagSet | undefined
  },
): HeldFlagSet | Refusal {
  const flagSet = compileFlagSet(definition, options)
  const { flags, segments } = definition
  // The compiler omits definitions that it cannot compile, and repeated ones.
  const isComplete =
    flagSet.flags.size === flags.length && flagSet.segments.size === segments.length
  return isComplete ? { flagSet, root } : 'definition'
}

function hasRepeatedId(changes: readonly { readonly id: string }[]): boolean {
  return new Set(changes.map(({ id }) => id)).size < changes.length
}
