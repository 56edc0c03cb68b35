/** A flag or a segment, and the flags and segments that its answer depends on, all by name. */
export interface DependencyNode {
  readonly name: string
  readonly needs: readonly string[]
}

/** The most hops that a chain of flags and segments may have; a hop is one reference. */
export const MAX_DEPENDENCY_HOPS = 64

/**
 * The names of all nodes whose answer cannot be worked out, because something that they need,
 * however indirectly, is missing or needs itself, or because the chain to it has more than
 * `MAX_DEPENDENCY_HOPS`. `isHop` says which needs count.
 */
export function unresolvable(
  nodes: readonly DependencyNode[],
  isHop: (name: string, need: string) => boolean,
): ReadonlySet<string> {
  const left = new Map(
    nodes.map(({ name, needs }) => [name, { missing: new Set(needs).size, hops: 0 }]),
  )
  const dependents = dependentsByName(nodes)
  const resolved = nodes.filter(({ needs }) => needs.length === 0).map(({ name }) => name)
  // The list grows while it is walked: a node follows once all that it needs has come by.
  for (const name of resolved) {
    const { hops = 0 } = left.get(name) ?? {}
    left.delete(name)
    for (const dependent of dependents.get(name) ?? []) {
      const state = left.get(dependent)
      if (state === undefined) continue
      state.hops = Math.max(state.hops, hops + (isHop(dependent, name) ? 1 : 0))
      state.missing -= 1
      if (state.missing === 0 && state.hops <= MAX_DEPENDENCY_HOPS) resolved.push(dependent)
    }
  }
  return new Set(left.keys())
}

/** The names given and those of everything that they depend on, however indirectly. */
export function dependenciesOf(
  nodes: readonly DependencyNode[],
  names: Iterable<string>,
): ReadonlySet<string> {
  const needs = new Map(nodes.map((node) => [node.name, node.needs]))
  const found = new Set(names)
  // A set may grow while it is walked: what is added is visited too.
  for (const name of found) for (const need of needs.get(name) ?? []) found.add(need)
  return found
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
