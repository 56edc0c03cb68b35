import { type DependencyNode, unresolvable } from './dependency.ts'
import type { CompiledFlag } from './flag.ts'
import { flagIdName, flagName, isHop, type Links } from './links.ts'
import type { CompiledSegment } from './segment.ts'

/** Who depends on whom in a flag set, and who cannot be worked out. */
export interface FlagDependencies {
  /** By the names that `flagName` and `segmentName` give; flags come first, in their order. */
  readonly nodes: readonly DependencyNode[]
  /** The names of those whose answer cannot be worked out. */
  readonly lost: ReadonlySet<string>
}

interface Parts {
  readonly flags: ReadonlyMap<string, CompiledFlag>
  readonly flagsById: ReadonlyMap<string, CompiledFlag>
  readonly segments: ReadonlyMap<string, CompiledSegment>
}

/** Most changes leave all dependencies as they were; then so is what follows from them. */
export function findDependencies(
  parts: Parts,
  previous: FlagDependencies | undefined,
): FlagDependencies {
  const nodes = [
    ...Array.from(parts.flags.values(), (flag) => flagNode(flag, parts)),
    ...Array.from(parts.segments.values(), ({ links }) => withFlags(links, parts)),
  ]
  if (previous !== undefined && isSameList(nodes, previous.nodes, isSameNode)) return previous
  return { nodes, lost: unresolvable(nodes, isHop) }
}

function isSameNode(left: DependencyNode, right: DependencyNode): boolean {
  if (left === right) return true
  return left.name === right.name && isSameList(left.needs, right.needs, Object.is)
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

/** An inactive flag asks nobody. What a prerequisite or a segment names must exist. */
function flagNode({ isActive, prerequisites, links }: CompiledFlag, parts: Parts): DependencyNode {
  const node = withFlags(links, parts)
  if (!isActive || prerequisites.length === 0) return node
  const needed = prerequisites.map(({ flagId }) => {
    const key = parts.flagsById.get(flagId)?.key
    return key === undefined ? flagIdName(flagId) : flagName(key)
  })
  return { name: node.name, needs: [...needed, ...node.needs] }
}

/** A condition on a flag that does not exist merely never holds. */
function withFlags({ node, flagKeys }: Links, { flags }: Parts): DependencyNode {
  if (flagKeys.length === 0) return node
  const known = flagKeys.filter((key) => flags.has(key))
  return { name: node.name, needs: [...node.needs, ...known.map(flagName)] }
}
