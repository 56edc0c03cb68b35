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
  // The number of hops of the longest chain from each node that is resolved.
  const hops = new Map<string, number>()
  const isResolvable = ({ name, dependsOn }: DependencyNode) => {
    let longest = 0
    for (const other of dependsOn) {
      const further = hops.get(other)
      if (further === undefined) return false
      if (further >= longest) longest = further + (isHop(name, other) ? 1 : 0)
    }
    if (longest <= MAX_DEPENDENCY_HOPS) hops.set(name, longest)
    return longest <= MAX_DEPENDENCY_HOPS
  }
  // The direction alternates, so that chains in the order of the nodes take one or two rounds. The
  // limit of hops also limits the number of rounds.
  let left = [...nodes]
  for (let before = Number.POSITIVE_INFINITY; left.length < before; ) {
    before = left.length
    left = left.reverse().filter((node) => !isResolvable(node))
  }
  return new Set(left.map(({ name }) => name))
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
): ReadonlyMap<string, readonly string[]> {
  const dependents = new Map<string, string[]>()
  for (const { name, dependsOn } of nodes) {
    for (const dependency of dependsOn) {
      getOrMake(dependents, dependency, () => []).push(name)
    }
  }
  return dependents
}
