import type { CompiledCondition } from '../operators/condition.ts'
import type { DependencyNode } from './dependency-graph.ts'

// A name is a kind, a colon and a key, an id or the words for an extension. No kind contains a colon, so
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
export function isHop(name: string, dependency: string): boolean {
  return !(name.startsWith('flag:') && dependency.startsWith('segment:'))
}

/** The words for a dependency in a sentence. */
export function wordsFor(name: string): string {
  const end = name.indexOf(':')
  if (end === -1) return `${name} that is not text`
  const kind = name.slice(0, end)
  const id = name.slice(end + 1)
  if (kind === 'extension') return id
  return kind === 'flag id' ? `flag with the id ${id}` : `${kind} ${id}`
}

/** The direct dependencies of a flag or a segment. */
export interface References {
  /** The segments, and the extensions that are missing. */
  readonly node: DependencyNode
  /** The keys of the flags that conditions read; a flag may not exist. */
  readonly flagKeys: readonly string[]
}

/** The references of conditions, and of the segments that are named beside them. */
export function referencesOf(
  name: string,
  conditions: readonly CompiledCondition[],
  segmentIds: readonly string[],
): References {
  const others = conditions.flatMap((condition) => {
    return [
      ...condition.segmentIds.map(segmentName),
      ...condition.missing.map((extension) => `extension:${extension}`),
    ]
  })
  return {
    node: { name, dependsOn: [...segmentIds.map(segmentName), ...others] },
    flagKeys: conditions.flatMap(({ flagKey }) => flagKey ?? []),
  }
}
