/** A flag or a segment, and the flags and segments that its answer depends on, all by name. */
export interface DependencyNode {
  readonly name: string
  readonly needs: readonly string[]
}

/** How many flags and segments may lean on one another in a row. */
export const MAX_DEPENDENCY_DEPTH = 64

/**
 * The names of all nodes whose answer cannot be worked out, because something that they need,
 * however indirectly, is missing, needs itself, or lies more than `MAX_DEPENDENCY_DEPTH` away.
 */
export function unresolvable(nodes: readonly DependencyNode[]): ReadonlySet<string> {
  const left = new Set(nodes.map(({ name }) => name))
  const missing = new Map(nodes.map(({ name, needs }) => [name, new Set(needs).size]))
  const dependents = dependentsByName(nodes)
  // Peels the nodes off from those that need nothing, one layer at a time.
  let layer = nodes.filter(({ needs }) => needs.length === 0).map(({ name }) => name)
  for (let depth = 1; depth <= MAX_DEPENDENCY_DEPTH && layer.length > 0; depth += 1) {
    const next: string[] = []
    for (const name of layer) {
      left.delete(name)
      for (const dependent of dependents.get(name) ?? []) {
        const stillMissing = (missing.get(dependent) ?? 0) - 1
        missing.set(dependent, stillMissing)
        if (stillMissing === 0) next.push(dependent)
      }
    }
    layer = next
  }
  return left
}

/** The names in `changed` and of everything that depends on them, however indirectly. */
export function dependentsOf(
  nodes: readonly DependencyNode[],
  changed: Iterable<string>,
): ReadonlySet<string> {
  const dependents = dependentsByName(nodes)
  const found = new Set(changed)
  // A set may grow while it is walked: what is added is visited too.
  for (const name of found) {
    for (const dependent of dependents.get(name) ?? []) found.add(dependent)
  }
  return found
}

function dependentsByName(
  nodes: readonly DependencyNode[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const dependents = new Map<string, Set<string>>()
  for (const { name, needs } of nodes) {
    for (const need of needs) {
      const known = dependents.get(need)
      if (known === undefined) dependents.set(need, new Set([name]))
      else known.add(name)
    }
  }
  return dependents
}
