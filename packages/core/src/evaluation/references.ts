import type { FlagDefinition } from '../model/definition.ts'
import { elementsOf } from '../model/json.ts'
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

/** The name of the id of a flag; the dependency of a flag on an id that no flag has. */
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
  /** The ids of the flags that are prerequisites. */
  readonly flagIds: readonly string[]
}

/** The references of a flag whose rules have these conditions; an inactive flag refers to nothing. */
export function referencesOfFlag(
  { key, isActive, prerequisites, rules }: FlagDefinition,
  conditions: readonly CompiledCondition[],
): References {
  const name = flagName(key)
  if (!isActive) return { node: { name, dependsOn: [] }, flagKeys: [], flagIds: [] }
  const segmentNames = rules.flatMap(({ segmentId }) => {
    return segmentId === null ? [] : segmentName(segmentId)
  })
  const { dependsOn, flagKeys } = referencesOfConditions(conditions)
  const flagIds = elementsOf(prerequisites).map(({ flagId }) => flagId)
  return { node: { name, dependsOn: [...segmentNames, ...dependsOn] }, flagKeys, flagIds }
}

/** The references of the segment with this id and these conditions. */
export function referencesOfSegment(
  id: string,
  conditions: readonly CompiledCondition[],
): References {
  const { dependsOn, flagKeys } = referencesOfConditions(conditions)
  return { node: { name: segmentName(id), dependsOn }, flagKeys, flagIds: [] }
}

/** An unreadable condition never holds, so it refers to nothing but the extensions that are missing. */
function referencesOfConditions(conditions: readonly CompiledCondition[]) {
  const dependsOn = conditions.flatMap(({ segmentIds, missing }) => [
    ...segmentIds.map(segmentName),
    ...missing.map((extension) => `extension:${extension}`),
  ])
  return { dependsOn, flagKeys: conditions.flatMap(({ flagKey }) => flagKey ?? []) }
}

/** The names that are referred to; of a flag that is a prerequisite, the name of its id. */
export function namesIn({ node, flagKeys, flagIds }: References): readonly string[] {
  return [...flagIds.map(flagIdName), ...node.dependsOn, ...flagKeys.map(flagName)]
}
