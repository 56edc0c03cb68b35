import type { CompiledCondition } from './condition.ts'
import type { DependencyNode } from './dependency.ts'

/** A flag's name among the dependencies. */
export function flagName(key: string): string {
  return nameOf('flag', key)
}

/** A segment's name among the dependencies. */
export function segmentName(id: string): string {
  return nameOf('segment', id)
}

/** The name of a flag of which only the id is known. */
export function idName(id: string): string {
  return nameOf('flag with the id', id)
}

/** An id that is no text, against its type, names nothing that exists. */
function nameOf(what: string, name: unknown): string {
  return typeof name === 'string' ? `${what} ${name}` : `${what} without a name`
}

/** What a flag or a segment depends on, as far as it says so itself. */
export interface Links {
  /** The segments, and the engines that were not handed in. */
  readonly node: DependencyNode
  /** The flags that conditions ask about, if there are such flags. */
  readonly flagKeys: readonly string[]
}

/** What follows from conditions and from the segments that are named beside them. */
export function linksOf(
  name: string,
  conditions: readonly CompiledCondition[],
  segmentIds: readonly string[],
): Links {
  const others = conditions.flatMap((condition) => {
    return [...condition.segmentIds.map(segmentName), ...condition.lacks]
  })
  return {
    node: { name, needs: [...segmentIds.map(segmentName), ...others] },
    flagKeys: conditions.flatMap(({ flagKey }) => flagKey ?? []),
  }
}
