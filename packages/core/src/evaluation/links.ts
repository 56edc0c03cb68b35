import type { CompiledCondition } from '../operators/condition.ts'
import type { DependencyNode } from './dependency.ts'

// A name is a kind, a colon and a key, an id or the words for an engine. No kind contains a colon, so
// names of different kinds are never equal, whatever the keys and ids contain.

/** A flag's name among the dependencies. */
export function flagName(key: string): string {
  return `flag:${key}`
}

/** A segment's name among the dependencies. */
export function segmentName(id: string): string {
  return nameOf('segment', id)
}

/** The name of a flag of which only the id is known, because no flag has it. */
export function flagIdName(id: string): string {
  return nameOf('flag id', id)
}

/** An id that is not text, against its type, names nothing that exists. */
function nameOf(kind: string, id: unknown): string {
  return typeof id === 'string' ? `${kind}:${id}` : kind
}

/**
 * Whether a dependency counts as a hop of a chain. Chains of segments and chains of flags are
 * counted, but not the reference of a flag to the segment with which a chain of segments begins.
 */
export function isHop(name: string, need: string): boolean {
  return !(name.startsWith('flag:') && need.startsWith('segment:'))
}

/** The words for a dependency in a sentence. */
export function wordsFor(name: string): string {
  const end = name.indexOf(':')
  if (end === -1) return `${name} that is not text`
  const kind = name.slice(0, end)
  const id = name.slice(end + 1)
  if (kind === 'engine') return id
  return kind === 'flag id' ? `flag with the id ${id}` : `${kind} ${id}`
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
    return [
      ...condition.segmentIds.map(segmentName),
      ...condition.lacks.map((engine) => `engine:${engine}`),
    ]
  })
  return {
    node: { name, needs: [...segmentIds.map(segmentName), ...others] },
    flagKeys: conditions.flatMap(({ flagKey }) => flagKey ?? []),
  }
}
