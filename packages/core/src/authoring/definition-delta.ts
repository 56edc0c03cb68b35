import { compareCodePoints } from '../model/code-point.ts'
import type { FlagDefinition, FlagSetDefinition, SegmentDefinition } from '../model/definition.ts'

/**
 * The latest state of a flag or segment. `definition` is `null` if the flag or segment was deleted.
 */
export interface Changed<Definition> {
  readonly id: string
  readonly definition: Definition | null
}

/** The keys that are added to a list and removed from it. A key that is in both is added. */
export interface KeyChanges {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** A segment without its listed keys. */
export type SegmentProperties = Omit<SegmentDefinition, 'included' | 'excluded'>

/**
 * The latest state of a segment, and the changes of its listed keys. The changes are empty if the
 * segment was deleted. They contain all listed keys if the segment is new.
 */
export interface ChangedSegment extends Changed<SegmentProperties> {
  readonly included: KeyChanges
  readonly excluded: KeyChanges
}

/**
 * The flags and segments that changed since an earlier version. `version` is the new version. The
 * changes of listed keys are relative to the earlier version.
 */
export interface DefinitionDelta {
  readonly version: number
  /** See `FlagSetDefinition`. */
  readonly clientVersion?: number
  readonly flags: readonly Changed<FlagDefinition>[]
  readonly segments: readonly ChangedSegment[]
}

/**
 * Applies changes to the definition of the earlier version, and returns the new definition. Flags
 * are sorted by key, segments by id. Flags, segments and lists of keys without a change are the
 * same objects as before. The listed keys of a new segment begin with empty lists.
 */
export function mergeChanges(
  definition: FlagSetDefinition,
  { version, clientVersion, flags, segments }: DefinitionDelta,
): FlagSetDefinition {
  return {
    version,
    ...(clientVersion !== undefined && { clientVersion }),
    flags: mergeById(definition.flags, flags, (changed) => changed.definition).sort(
      (left, right) => compareCodePoints(left.key, right.key) || byId(left, right),
    ),
    segments: mergeById(definition.segments, segments, mergeSegment).sort(byId),
  }
}

interface Identified {
  readonly id: string
}

function byId(left: Identified, right: Identified): number {
  return compareCodePoints(left.id, right.id)
}

function mergeById<Definition extends Identified, Change extends Identified>(
  definitions: readonly Definition[],
  changes: readonly Change[],
  merge: (change: Change, before: Definition | undefined) => Definition | null,
): Definition[] {
  const merged = new Map(definitions.map((definition) => [definition.id, definition]))
  for (const change of changes) {
    const definition = merge(change, merged.get(change.id))
    if (definition === null) merged.delete(change.id)
    else merged.set(change.id, definition)
  }
  return [...merged.values()]
}

function mergeSegment(
  { definition, included, excluded }: ChangedSegment,
  before: SegmentDefinition | undefined,
): SegmentDefinition | null {
  return (
    definition && {
      ...definition,
      included: mergeKeys(before?.included ?? [], included),
      excluded: mergeKeys(before?.excluded ?? [], excluded),
    }
  )
}

function mergeKeys(keys: readonly string[], { added, removed }: KeyChanges): readonly string[] {
  const changed = new Set([...added, ...removed])
  return changed.size === 0 ? keys : keys.filter((key) => !changed.has(key)).concat(added)
}
