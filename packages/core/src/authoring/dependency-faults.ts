import { type DependencyNode, MAX_DEPENDENCY_HOPS } from '../evaluation/dependency-graph.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { flagName, segmentName, wordsFor } from '../evaluation/references.ts'
import { compareCodePoints } from '../model/code-point.ts'
import { clip, textOf } from '../model/quote.ts'

/** The maximum number of flags and segments of a cycle that a message names. */
const MAX_NAMED = 8

/** A reason why a flag or segment cannot be evaluated. */
export interface DependencyFault {
  /** A sentence that names the flag or segment. All members of a cycle have the same sentence. */
  readonly message: string
  /**
   * A text that stays the same if a change of other flags and segments only alters the wording of
   * the message.
   */
  readonly identity: string
}

const NONE: readonly DependencyFault[] = []

/**
 * Returns a function that returns the reasons why a flag or segment cannot be evaluated. `name` is
 * the dependency name of the flag or segment. The list is empty if it can be evaluated. The
 * duration of all calls together grows in proportion to the number of dependencies.
 */
export function explainUnresolvable(
  flagSet: FlagSet,
): (name: string) => readonly DependencyFault[] {
  const { nodes, unresolvable } = flagSet.dependencies
  if (unresolvable.size === 0) return () => NONE
  const known = new Map(nodes.map((node) => [node.name, node]))
  const next = (name: string) => {
    return known.get(name)?.dependsOn.find((other) => unresolvable.has(other))
  }
  const cycles = findCycles(nodes, { unresolvable, next })
  const messages = new Map<readonly string[], string>()
  return (name) => {
    if (!unresolvable.has(name)) return NONE
    const missing = missingOf(known, name)
    if (missing.length > 0) return missing
    const cycle = cycles.get(name)
    if (cycle === undefined) return [{ message: brokenFault(name, next(name)), identity: name }]
    const message = messages.get(cycle) ?? cycleFault(flagSet, cycle)
    messages.set(cycle, message)
    return [{ message, identity: name }]
  }
}

function missingOf(
  known: ReadonlyMap<string, DependencyNode>,
  name: string,
): readonly DependencyFault[] {
  const missing = known.get(name)?.dependsOn.filter((other) => !known.has(other)) ?? []
  return missing.map((other) => {
    const message = `The ${words(name)} needs the ${words(other)}, which does not exist.`
    return { message, identity: message }
  })
}

function brokenFault(name: string, broken: string | undefined): string {
  return broken === undefined
    ? `The ${words(name)} needs a flag or segment that is more than ${MAX_DEPENDENCY_HOPS} hops away.`
    : `The ${words(name)} needs the ${words(broken)}, which cannot be evaluated.`
}

interface BrokenGraph {
  readonly unresolvable: ReadonlySet<string>
  /** Returns the first dependency that cannot be evaluated; `undefined` if there is none. */
  readonly next: (name: string) => string | undefined
}

/**
 * Follows `next` from each node, and returns the cycle of each node that this path returns to. Each
 * node is followed once.
 */
function findCycles(
  nodes: readonly DependencyNode[],
  { unresolvable, next }: BrokenGraph,
): ReadonlyMap<string, readonly string[]> {
  const cycles = new Map<string, readonly string[]>()
  const followed = new Set<string>()
  for (const { name: start } of nodes) {
    if (!unresolvable.has(start)) continue
    const path: string[] = []
    let name: string | undefined = start
    for (; name !== undefined && !followed.has(name); name = next(name)) {
      followed.add(name)
      path.push(name)
    }
    const begin = name === undefined ? -1 : path.indexOf(name)
    const cycle = begin < 0 ? [] : path.slice(begin)
    for (const member of cycle) cycles.set(member, cycle)
  }
  return cycles
}

/** Returns a sentence with the keys of a cycle, which begins with the smallest key. */
function cycleFault(flagSet: FlagSet, cycle: readonly string[]): string {
  const isOfSegments = cycle.every((name) => flagSet.segments.has(idIn(name, segmentName)))
  const kind = isOfSegments
    ? 'Segment'
    : isOfPrerequisites(flagSet, cycle)
      ? 'Prerequisite'
      : 'Dependency'
  const keys = cycle.map((name) => keyOf(flagSet, name, kind === 'Dependency'))
  const first = keys.reduce((least, key, at) => {
    return compareCodePoints(key, keys[least] ?? key) < 0 ? at : least
  }, 0)
  const sorted = [...keys.slice(first), ...keys.slice(0, first)]
  const left = sorted.length - MAX_NAMED
  const named = left > 1 ? [...sorted.slice(0, MAX_NAMED), `… (${left} more)`] : sorted
  return `${kind} cycle: ${[...named, sorted[0]].join(' → ')}.`
}

/** Returns `true` if each member of the cycle is a flag with the next member as a prerequisite. */
function isOfPrerequisites({ flags, flagsById }: FlagSet, cycle: readonly string[]): boolean {
  return cycle.every((name, at) => {
    const next = cycle[(at + 1) % cycle.length] ?? name
    const flag = flags.get(idIn(name, flagName))
    return flag?.prerequisites.some(({ flagId }) => {
      return flagsById.get(flagId)?.key === idIn(next, flagName)
    })
  })
}

function keyOf({ segments }: FlagSet, name: string, isKindNamed: boolean): string {
  const segment = segments.get(idIn(name, segmentName))
  const key = clip(segment === undefined ? idIn(name, flagName) : textOf(segment.definition.key))
  if (!isKindNamed) return key
  return `${segment === undefined ? 'flag' : 'segment'} ${key}`
}

/** Returns the key or id in a dependency name of one kind; empty if the name has another kind. */
function idIn(name: string, nameOf: (id: string) => string): string {
  const prefix = nameOf('')
  return name.startsWith(prefix) ? name.slice(prefix.length) : ''
}

function words(name: string): string {
  return clip(wordsFor(name))
}
