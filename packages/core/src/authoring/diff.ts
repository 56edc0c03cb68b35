import { dependentsOf } from '../evaluation/dependency-graph.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { flagName, segmentName } from '../evaluation/references.ts'
import { compareCodePoints } from '../model/code-point.ts'
import type { FlagDefinition, FlagSetDefinition, SegmentDefinition } from '../model/definition.ts'
import { isSameDefinition, jsonEquals } from '../model/json.ts'
import type { FlagValue, FlagValues } from '../model/value.ts'

/**
 * Returns the keys of the flags that can have different results in `before` and `after` for the
 * same context and time. These are the changed, added and removed flags, and their dependents. All
 * other flags have the same result for every context. The keys are sorted by code point.
 */
export function changedFlags(before: FlagSet, after: FlagSet): readonly string[] {
  const changed = [
    ...changedNames(before.flagsByKey, after.flagsByKey).map(flagName),
    ...changedNames(before.segments, after.segments).map(segmentName),
  ]
  if (changed.length === 0) return []
  const affected = dependentsOf(
    [...before.dependencies.nodes, ...after.dependencies.nodes],
    changed,
  )
  return [...new Set([...before.flags.keys(), ...after.flags.keys()])]
    .filter((key) => affected.has(flagName(key)))
    .sort(compareCodePoints)
}

interface Compiled {
  readonly definition: unknown
}

function changedNames(
  before: ReadonlyMap<string, Compiled>,
  after: ReadonlyMap<string, Compiled>,
): string[] {
  const removed = [...before.keys()].filter((name) => !after.has(name))
  const others = [...after].filter(([name, now]) => {
    const old = before.get(name)
    return old !== now && (old === undefined || !isSameDefinition(old.definition, now.definition))
  })
  return [...removed, ...others.map(([name]) => name)]
}

/** The changes between two objects of values: the new and changed values, and the removed keys. */
export interface ValueChanges {
  readonly flags: FlagValues
  readonly removed: readonly string[]
}

/** Returns the changes that turn `before` into `after`. */
export function changedValues(before: FlagValues, after: FlagValues): ValueChanges {
  const flags: Record<string, FlagValue> = Object.create(null)
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined
    if (old === undefined || !jsonEquals(old, value)) flags[key] = value
  }
  return { flags, removed: Object.keys(before).filter((key) => !Object.hasOwn(after, key)) }
}

/**
 * The latest state of a flag or segment. `definition` is `null` if the flag or segment was deleted.
 */
export interface Changed<Definition> {
  readonly id: string
  readonly definition: Definition | null
}

/**
 * The latest state of all flags and segments that changed since an earlier version. `version` is
 * the new version.
 */
export interface DefinitionDelta {
  readonly version: number
  /** See `FlagSetDefinition`. */
  readonly clientVersion?: number
  readonly flags: readonly Changed<FlagDefinition>[]
  readonly segments: readonly Changed<SegmentDefinition>[]
}

/**
 * Applies `changes` to a definition and returns the new definition. Flags are sorted by key,
 * segments by id.
 */
export function mergeChanges(
  definition: FlagSetDefinition,
  changes: DefinitionDelta,
): FlagSetDefinition {
  const flags = mergeById(definition.flags, changes.flags)
  const segments = mergeById(definition.segments, changes.segments)
  return {
    version: changes.version,
    ...(changes.clientVersion !== undefined && { clientVersion: changes.clientVersion }),
    flags: flags.sort((left, right) => compareCodePoints(left.key, right.key)),
    segments: segments.sort((left, right) => compareCodePoints(left.id, right.id)),
  }
}

function mergeById<Definition extends { readonly id: string }>(
  definitions: readonly Definition[],
  changes: readonly Changed<Definition>[],
): Definition[] {
  const byId = new Map(definitions.map((definition) => [definition.id, definition]))
  for (const { id, definition } of changes) {
    if (definition === null) byId.delete(id)
    else byId.set(id, definition)
  }
  return [...byId.values()]
}
