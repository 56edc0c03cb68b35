import { type DependencyNode, findUnresolvable } from './dependency-graph.ts'
import type { CompiledFlag } from './flag.ts'
import { flagIdName, flagName, isHop, type References } from './references.ts'
import type { CompiledSegment } from './segment.ts'

/** The dependencies between the flags and segments of a flag set. */
export interface FlagDependencies {
  /** By the names that `flagName` and `segmentName` give; flags come first, in their order. */
  readonly nodes: readonly DependencyNode[]
  /** The names of the flags and segments that cannot be evaluated. */
  readonly unresolvable: ReadonlySet<string>
}

interface CompiledDefinitions {
  readonly flags: ReadonlyMap<string, CompiledFlag>
  readonly flagsById: ReadonlyMap<string, CompiledFlag>
  readonly segments: ReadonlyMap<string, CompiledSegment>
}

/** Most changes leave all dependencies as they were; then so is what follows from them. */
export function findDependencies(
  compiled: CompiledDefinitions,
  previous: FlagDependencies | undefined,
): FlagDependencies {
  const nodes = [
    ...Array.from(compiled.flags.values(), (flag) => flagNode(flag, compiled)),
    ...Array.from(compiled.segments.values(), ({ references }) => withFlags(references, compiled)),
  ]
  if (previous !== undefined && isSameList(nodes, previous.nodes, isSameNode)) return previous
  return { nodes, unresolvable: findUnresolvable(nodes, isHop) }
}

function isSameNode(left: DependencyNode, right: DependencyNode): boolean {
  if (left === right) return true
  return left.name === right.name && isSameList(left.dependsOn, right.dependsOn, Object.is)
}

function isSameList<Item>(
  left: readonly Item[],
  right: readonly Item[],
  isSame: (left: Item, right: Item) => boolean,
): boolean {
  return (
    left.length === right.length &&
    left.every((item, index) => {
      const other = right[index]
      return other !== undefined && isSame(item, other)
    })
  )
}

/** An inactive flag depends on nothing. A prerequisite or a segment that is named must exist. */
function flagNode(
  { isActive, prerequisites, references }: CompiledFlag,
  compiled: CompiledDefinitions,
): DependencyNode {
  const node = withFlags(references, compiled)
  if (!isActive || prerequisites.length === 0) return node
  const prerequisiteNames = prerequisites.map(({ flagId }) => {
    const key = compiled.flagsById.get(flagId)?.key
    return key === undefined ? flagIdName(flagId) : flagName(key)
  })
  return { name: node.name, dependsOn: [...prerequisiteNames, ...node.dependsOn] }
}

/** A condition on a flag that does not exist never holds, which is no fault. */
function withFlags({ node, flagKeys }: References, { flags }: CompiledDefinitions): DependencyNode {
  if (flagKeys.length === 0) return node
  const known = flagKeys.filter((key) => flags.has(key))
  return { name: node.name, dependsOn: [...node.dependsOn, ...known.map(flagName)] }
}
