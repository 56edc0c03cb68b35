import { compareCodePoints } from '../model/code-point.ts'
import type {
  ConditionDefinition,
  FlagDefinition,
  RuleDefinition,
  SegmentDefinition,
} from '../model/definition.ts'
import type { ConditionCompiler } from '../operators/condition.ts'
import type { DependencyNode } from './dependency-graph.ts'

// A dependency name consists of a kind, a colon, and a key, an id or the description of an
// extension. No kind contains a colon, so that names of different kinds are never equal.

/** Returns the dependency name of a flag. */
export function flagName(key: string): string {
  return `flag:${key}`
}

/** Returns the dependency name of a segment. */
export function segmentName(id: string): string {
  return nameOf('segment', id)
}

/** Returns the dependency name of a flag id. A prerequisite has this name if no flag has the id. */
export function flagIdName(id: string): string {
  return nameOf('flag id', id)
}

/** Returns a dependency name. If `id` is not text, returns a name that no definition has. */
function nameOf(kind: string, id: unknown): string {
  return typeof id === 'string' ? `${kind}:${id}` : kind
}

/**
 * Returns `true` if a dependency counts as a hop of a chain. The reference of a flag to a segment
 * does not count.
 */
export function isHop(name: string, dependency: string): boolean {
  return !(name.startsWith('flag:') && dependency.startsWith('segment:'))
}

/** Returns the description of a dependency for messages, such as `segment 12`. */
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
  /**
   * The name of the flag or segment, and the names of the segments and the missing extensions that
   * it depends on.
   */
  readonly node: DependencyNode
  /** The keys of the flags that conditions refer to, including unknown flags. */
  readonly flagKeys: readonly string[]
  /** The ids of the flags that are prerequisites. */
  readonly flagIds: readonly string[]
}

const NONE: readonly string[] = []

/**
 * Returns the references of a flag. An inactive flag has no references. Throws if a rule or a
 * condition does not have the declared type.
 */
export function referencesOfFlag(
  { key, isActive, prerequisites, rules }: FlagDefinition,
  compiler: ConditionCompiler,
): References {
  const dependsOn: string[] = []
  const referring: RuleDefinition[] = []
  // Indexes, because iterators are slow until V8 compiles the code, which is after most calls.
  for (let at = 0; at < rules.length; at += 1) {
    const rule = rules[at] as RuleDefinition
    if (rule.segmentId !== null) dependsOn.push(segmentName(rule.segmentId))
    if (canRefer(rule, compiler)) referring.push(rule)
  }
  const flagKeys: string[] = []
  for (const { conditions } of referring.sort(compareRules)) {
    addReferences(conditions, compiler, { dependsOn, flagKeys })
  }
  const name = flagName(key)
  if (!isActive) return { node: { name, dependsOn: NONE }, flagKeys: NONE, flagIds: NONE }
  return {
    node: { name, dependsOn: exact(dependsOn) },
    flagKeys: exact(flagKeys),
    flagIds: prerequisites.length === 0 ? NONE : prerequisites.map(({ flagId }) => flagId),
  }
}

/** Returns a copy without room for more elements. */
function exact(list: readonly string[]): readonly string[] {
  return list.length === 0 ? NONE : list.slice()
}

/** Returns `true` if a condition of the rule can refer to something. Checks all conditions. */
function canRefer({ conditions }: RuleDefinition, compiler: ConditionCompiler): boolean {
  let isReferring = false
  for (let at = 0; at < conditions.length; at += 1) {
    if (compiler.canRefer(conditions[at] as ConditionDefinition)) isReferring = true
  }
  return isReferring
}

/** Compares two rules by the order of their evaluation. */
export function compareRules(a: RuleDefinition, b: RuleDefinition): number {
  return (
    a.orderIndex - b.orderIndex ||
    compareCodePoints(a.createdAt, b.createdAt) ||
    compareCodePoints(a.id, b.id)
  )
}

/** Returns the references of a segment with these rules. */
export function referencesOfSegment(
  { id, rules }: Pick<SegmentDefinition, 'id' | 'rules'>,
  compiler: ConditionCompiler,
): References {
  const dependsOn: string[] = []
  const flagKeys: string[] = []
  addReferences(rules, compiler, { dependsOn, flagKeys })
  return { node: { name: segmentName(id), dependsOn }, flagKeys, flagIds: NONE }
}

/**
 * Adds the references of conditions to two lists. Compiles only the conditions that can have
 * references. An invalid condition refers only to missing extensions.
 */
function addReferences(
  conditions: readonly ConditionDefinition[],
  compiler: ConditionCompiler,
  { dependsOn, flagKeys }: { readonly dependsOn: string[]; readonly flagKeys: string[] },
): void {
  for (const condition of conditions) {
    if (!compiler.canRefer(condition)) continue
    const { segmentIds, missing, flagKey } = compiler.compile(condition)
    for (const id of segmentIds) dependsOn.push(segmentName(id))
    for (const extension of missing) dependsOn.push(`extension:${extension}`)
    if (flagKey !== undefined) flagKeys.push(flagKey)
  }
}

/** Returns the dependency names of all references. A prerequisite has the name of its flag id. */
export function namesIn({ node, flagKeys, flagIds }: References): readonly string[] {
  return [...flagIds.map(flagIdName), ...node.dependsOn, ...flagKeys.map(flagName)]
}
