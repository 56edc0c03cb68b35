import { getOrMake } from '../model/get-or-make.ts'

/** A flag or segment, and the names of the flags and segments that its result depends on. */
export interface DependencyNode {
  readonly name: string
  readonly dependsOn: readonly string[]
}

/**
 * The maximum number of hops in a chain of flags and segments. A hop is one reference, except that
 * a reference of a flag to a segment does not count.
 */
export const MAX_DEPENDENCY_HOPS = 64

/**
 * Returns the names of all nodes that cannot be evaluated, because a direct or indirect dependency
 * is missing or depends on itself, or because a chain of dependencies has more than
 * `MAX_DEPENDENCY_HOPS` hops. `isHop` returns `true` for a dependency that counts as a hop.
 */
export function findUnresolvable(
  nodes: readonly DependencyNode[],
  isHop: (name: string, dependency: string) => boolean,
): ReadonlySet<string> {
  const left = new Map(
    nodes.map(({ name, dependsOn }) => [name, { missing: new Set(dependsOn).size, hops: 0 }]),
  )
  const dependents = dependentsByName(nodes)
  const resolved = nodes.filter(({ dependsOn }) => dependsOn.length === 0).map(({ name }) => name)
  // The loop appends a node to the list when all dependencies of the node are resolved.
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

/** Returns `names`, and the names of all their direct and indirect dependencies. */
export function dependenciesOf(
  nodes: readonly DependencyNode[],
  names: Iterable<string>,
): ReadonlySet<string> {
  return reachableFrom(names, new Map(nodes.map((node) => [node.name, node.dependsOn])))
}

/** Returns the names in `changed`, and the names of all their direct and indirect dependents. */
export function dependentsOf(
  nodes: readonly DependencyNode[],
  changed: Iterable<string>,
): ReadonlySet<string> {
  return reachableFrom(changed, dependentsByName(nodes))
}

function reachableFrom(
  names: Iterable<string>,
  edges: ReadonlyMap<string, Iterable<string>>,
): ReadonlySet<string> {
  const found = new Set(names)
  // The iteration of a set includes elements that are added meanwhile.
  for (const name of found) for (const other of edges.get(name) ?? []) found.add(other)
  return found
}

function dependentsByName(
  nodes: readonly DependencyNode[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const dependents = new Map<string, Set<string>>()
  for (const { name, dependsOn } of nodes) {
    for (const dependency of dependsOn) {
      getOrMake(dependents, dependency, () => new Set()).add(name)
    }
  }
  return dependents
}
