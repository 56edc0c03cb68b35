import { compareCodePoints } from './code-point.ts'
import type { CompiledCondition } from './condition.ts'
import type { FlagSetDefinition } from './definition.ts'
import { type DependencyNode, unresolvable } from './dependency.ts'
import { type CompiledFlag, compileFlag } from './flag.ts'
import { type JsonValue, jsonEquals } from './json.ts'
import { instantsOf, type Ramp } from './ramp.ts'
import { type CompiledSegment, compileSegment } from './segment.ts'

/** An environment made ready for evaluation: immutable, and safe to share. */
export interface FlagSet {
  readonly version: number
  /** What it was compiled from; `mergeChanges` makes the next one of it. */
  readonly definition: FlagSetDefinition
  /** By key, in the order of the keys' code points. */
  readonly flags: ReadonlyMap<string, CompiledFlag>
  /** By id. */
  readonly segments: ReadonlyMap<string, CompiledSegment>
  /** Epoch milliseconds, ascending, at which gradual rollouts change what is served. */
  readonly instants: readonly number[]
  /** Everything that is wrong; empty for a sound definition. */
  readonly issues: readonly FlagSetIssue[]
  /** The flags once more, in the same order: what evaluation walks. */
  readonly ordered: readonly CompiledFlag[]
  readonly flagsById: ReadonlyMap<string, CompiledFlag>
  /** Who depends on whom, by the names that `flagName` and `segmentName` give. */
  readonly dependencies: readonly DependencyNode[]
  /** The keys of the active flags whose answer cannot be worked out. */
  readonly malformed: ReadonlySet<string>
}

export interface FlagSetIssue {
  readonly flagKey?: string
  readonly segmentId?: string
  readonly message: string
}

/** A flag's name among the dependencies. */
export function flagName(key: string): string {
  return nameOf('flag', key)
}

/** A segment's name among the dependencies. */
export function segmentName(id: string): string {
  return nameOf('segment', id)
}

/** An id that is no text, against its type, names nothing that exists. */
function nameOf(what: string, name: unknown): string {
  return typeof name === 'string' ? `${what} ${name}` : `${what} without a name`
}

/**
 * Turns a definition into its fast form. Never throws: whatever is wrong is listed in `issues`,
 * and the flags concerned answer with reason `ERROR`. Given the previous set, it keeps everything
 * whose definition is unchanged. The definition must not be modified afterwards.
 */
export function compileFlagSet(definition: FlagSetDefinition, previous?: FlagSet): FlagSet {
  const unreadable: FlagSetIssue[] = []
  const segments = compileAll(definition.segments, {
    nameOf: (segment) => segment?.id,
    compile: compileSegment,
    known: previous?.segments,
    unreadable,
  })
  const flags = compileAll(definition.flags, {
    nameOf: (flag) => flag?.key,
    compile: compileFlag,
    known: previous?.flags,
    unreadable,
  })
  const ordered = [...flags.values()]
  const flagsById = new Map(ordered.map((flag) => [flag.definition.id, flag]))
  const dependencies = [
    ...ordered.map((flag) => flagNode(flag, flags, flagsById)),
    ...[...segments.values()].map((segment) => segmentNode(segment, flags)),
  ]
  const lost = unresolvable(dependencies)
  return Object.freeze({
    version: definition.version,
    definition,
    flags,
    segments,
    instants: instantsOfFlags(ordered, previous),
    issues: [...unreadable, ...findIssues({ ordered, segments, dependencies, lost })],
    ordered,
    flagsById,
    dependencies,
    malformed: new Set(ordered.flatMap(({ key }) => (lost.has(flagName(key)) ? key : []))),
  })
}

interface CompileOptions<Definition, Compiled> {
  readonly nameOf: (definition: Definition) => unknown
  readonly compile: (definition: Definition) => Compiled
  /** What the previous set had compiled. */
  readonly known: ReadonlyMap<string, Compiled> | undefined
  /** Gets an issue for each definition that had to be left out. */
  readonly unreadable: FlagSetIssue[]
}

function compileAll<Definition, Compiled extends { readonly definition: Definition }>(
  definitions: readonly Definition[],
  { nameOf, compile, known, unreadable }: CompileOptions<Definition, Compiled>,
): ReadonlyMap<string, Compiled> {
  const compiled = new Map<string, Compiled>()
  const leaveOut = (message: string) => unreadable.push({ message })
  if (!Array.isArray(definitions)) leaveOut('The flags or the segments are not a list.')
  for (const definition of Array.isArray(definitions) ? (definitions as Definition[]) : []) {
    const name = nameOf(definition)
    if (typeof name !== 'string') leaveOut('A definition without a name was left out.')
    else if (compiled.has(name)) leaveOut(`A second "${name}" was left out.`)
    else {
      try {
        const before = known?.get(name)
        const isKnown = before !== undefined && isSameDefinition(before.definition, definition)
        compiled.set(name, isKnown ? before : compile(definition))
      } catch (error) {
        leaveOut(`"${name}" was left out, because it cannot be read: ${String(error)}.`)
      }
    }
  }
  return new Map([...compiled].sort(([left], [right]) => compareCodePoints(left, right)))
}

/** Whether two definitions say the same; the order of names in them does not matter. */
export function isSameDefinition(left: unknown, right: unknown): boolean {
  return left === right || jsonEquals(left as JsonValue, right as JsonValue)
}

type FlagsByName = ReadonlyMap<string, CompiledFlag>

/** An inactive flag asks nobody. What a prerequisite or a segment names must exist. */
function flagNode(flag: CompiledFlag, byKey: FlagsByName, byId: FlagsByName): DependencyNode {
  const name = flagName(flag.key)
  if (!flag.definition.isActive) return { name, needs: [] }
  const prerequisites = flag.prerequisites.map(({ flagId }) => {
    const key = byId.get(flagId)?.key
    return key === undefined ? nameOf('flag with the id', flagId) : flagName(key)
  })
  const segments = flag.rules.flatMap(({ definition: { segmentId } }) => {
    return segmentId === null ? [] : segmentName(segmentId)
  })
  const conditions = flag.rules.flatMap((rule) => rule.conditions)
  return { name, needs: [...prerequisites, ...segments, ...needsOf(conditions, byKey)] }
}

function segmentNode({ definition, conditions }: CompiledSegment, byKey: FlagsByName) {
  return { name: segmentName(definition.id), needs: needsOf(conditions, byKey) }
}

/** A condition on a flag that does not exist merely never holds. */
function needsOf(conditions: readonly CompiledCondition[], byKey: FlagsByName): string[] {
  return conditions.flatMap(({ segmentIds, flagKey }) => {
    const isKnown = flagKey !== undefined && byKey.has(flagKey)
    return [...segmentIds.map(segmentName), ...(isKnown ? [flagName(flagKey)] : [])]
  })
}

function instantsOfFlags(
  ordered: readonly CompiledFlag[],
  previous: FlagSet | undefined,
): readonly number[] {
  const ramps = activeRamps(ordered)
  const before = previous === undefined ? [] : activeRamps(previous.ordered)
  const isSame = ramps.length === before.length && ramps.every((ramp, at) => ramp === before[at])
  return previous !== undefined && isSame ? previous.instants : instantsOf(ramps)
}

function activeRamps(ordered: readonly CompiledFlag[]): readonly Ramp[] {
  return ordered.flatMap(({ definition, ramps }) => (definition.isActive ? ramps : []))
}

type Findings = Pick<FlagSet, 'ordered' | 'segments' | 'dependencies'> & {
  readonly lost: ReadonlySet<string>
}

function findIssues({ ordered, segments, dependencies, lost }: Findings): FlagSetIssue[] {
  const needs = new Map(dependencies.map((node) => [node.name, node.needs]))
  const lostMessages = (name: string): string[] => {
    if (!lost.has(name)) return []
    const missing = (needs.get(name) ?? []).filter((need) => !needs.has(need))
    if (missing.length === 0) return [`The ${name} needs itself, or what is broken or too deep.`]
    return missing.map((need) => `The ${name} needs the ${need}, which does not exist.`)
  }
  return [
    ...ordered.flatMap(({ key: flagKey, issues }) => {
      const messages = [...issues, ...lostMessages(flagName(flagKey))]
      return messages.map((message) => ({ flagKey, message }))
    }),
    ...[...segments].flatMap(([segmentId, { issues }]) => {
      const messages = [...issues, ...lostMessages(segmentName(segmentId))]
      return messages.map((message) => ({ segmentId, message }))
    }),
  ]
}
