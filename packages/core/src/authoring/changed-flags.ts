import { dependentsOf } from '../evaluation/dependency-graph.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { flagName, segmentName } from '../evaluation/references.ts'
import { compareCodePoints } from '../model/code-point.ts'
import { isSameDefinition } from '../model/json.ts'

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
