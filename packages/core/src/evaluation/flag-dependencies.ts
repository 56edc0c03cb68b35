import { type DependencyNode, findUnresolvable } from './dependency-graph.ts'
import type { CompiledFlag } from './flag.ts'
import { flagIdName, flagName, isHop, type References } from './references.ts'
import type { CompiledSegment } from './segment.ts'

/** The dependencies between the flags and segments of a flag set. */
export interface FlagDependencies {
  /** The dependencies of all flags, in their order, followed by those of all segments. */
  readonly nodes: readonly DependencyNode[]
  /** The names of the flags and segments that cannot be evaluated. */
  readonly unresolvable: ReadonlySet<string>
}

interface CompiledDefinitions {
  readonly flags: ReadonlyMap<string, CompiledFlag>
  readonly flagsById: ReadonlyMap<string, CompiledFlag>
  readonly segments: ReadonlyMap<string, CompiledSegment>
}

/** Returns the dependencies of a flag set. */
export function findDependencies(compiled: CompiledDefinitions): FlagDependencies {
  const definitions = [...compiled.flags.values(), ...compiled.segments.values()]
  const nodes = definitions.map(({ references }) => nodeOf(references, compiled))
  return { nodes, unresolvable: findUnresolvable(nodes, isHop) }
}

/**
 * Returns the dependencies of a flag or segment, including prerequisites and segments that do not
 * exist. Unknown flags of conditions are not included, because such conditions are valid: an
 * unknown flag counts as a missing value.
 */
function nodeOf(
  { node, flagKeys, flagIds }: References,
  { flags, flagsById }: CompiledDefinitions,
): DependencyNode {
  if (flagKeys.length === 0 && flagIds.length === 0) return node
  const prerequisiteNames = flagIds.map((id) => {
    const key = flagsById.get(id)?.key
    return key === undefined ? flagIdName(id) : flagName(key)
  })
  const known = flagKeys.filter((key) => flags.has(key)).map(flagName)
  return { name: node.name, dependsOn: [...prerequisiteNames, ...node.dependsOn, ...known] }
}
