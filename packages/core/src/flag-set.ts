import { compareCodePoints } from './code-point.ts'
import { sharedConditions } from './condition.ts'
import type { FlagSetDefinition } from './definition.ts'
import type { Engines } from './engines.ts'
import { type CompiledFlag, compileFlag } from './flag.ts'
import { type FlagDependencies, findDependencies } from './flag-dependencies.ts'
import { type JsonValue, jsonEquals } from './json.ts'
import { flagName, segmentName } from './links.ts'
import { compileProgram, type Program } from './program.ts'
import { instantsOf, type Ramp } from './ramp.ts'
import { type CompiledSegment, compileSegment } from './segment.ts'
import { Workspace } from './workspace.ts'

/** An environment made ready for evaluation: immutable, and safe to share. */
export interface FlagSet {
  readonly version: number
  /** What it was compiled from; `mergeChanges` makes the next one of it. */
  readonly definition: FlagSetDefinition
  /** What it was compiled with. */
  readonly engines: Engines
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
  readonly dependencies: FlagDependencies
  /** The keys of the active flags whose answer cannot be worked out. */
  readonly malformed: ReadonlySet<string>
  /** The rules of all flags, to be judged together. */
  readonly program: Program
  readonly workspace: Workspace
}

/** What `compileFlagSet` may be given beside the definition. */
export interface CompileOptions {
  /** The set before the change: everything whose definition is unchanged is kept. */
  readonly previous?: FlagSet | undefined
  readonly engines?: Engines | undefined
}

export interface FlagSetIssue {
  readonly flagKey?: string
  readonly segmentId?: string
  readonly message: string
}

/**
 * Turns a definition into its fast form. Never throws: whatever is wrong is listed in `issues`,
 * and the flags concerned answer with reason `ERROR`. The definition must not be modified afterwards.
 */
export function compileFlagSet(
  definition: FlagSetDefinition,
  options: CompileOptions = {},
): FlagSet {
  const { engines = {} } = options
  const previous = reusable(options.previous, engines)
  const unreadable: FlagSetIssue[] = []
  const compileCondition = sharedConditions(engines)
  const segments = compileAll(definition.segments, {
    nameOf: (segment) => segment?.id,
    compile: (segment) => compileSegment(segment, compileCondition),
    known: previous?.segments,
    unreadable,
  })
  const flags = compileAll(definition.flags, {
    nameOf: (flag) => flag?.key,
    compile: (flag) => compileFlag(flag, engines, compileCondition),
    known: previous?.flags,
    unreadable,
  })
  const ordered = [...flags.values()]
  const flagsById = new Map(ordered.map((flag) => [flag.definition.id, flag]))
  const dependencies = findDependencies({ flags, flagsById, segments }, previous?.dependencies)
  const { lost } = dependencies
  const malformed = malformedAmong(ordered, lost)
  return Object.freeze({
    version: definition.version,
    definition,
    engines,
    flags,
    segments,
    instants: instantsOfFlags(ordered, previous),
    issues: [...unreadable, ...findIssues({ ordered, segments, dependencies })],
    ordered,
    flagsById,
    dependencies,
    malformed,
    program: compileProgram({ ordered, malformed, previous: previous?.program }),
    workspace: new Workspace(previous?.workspace),
  })
}

interface PartOptions<Definition, Compiled> {
  readonly nameOf: (definition: Definition) => unknown
  readonly compile: (definition: Definition) => Compiled
  /** What the previous set had compiled. */
  readonly known: ReadonlyMap<string, Compiled> | undefined
  /** Gets an issue for each definition that had to be left out. */
  readonly unreadable: FlagSetIssue[]
}

function compileAll<Definition, Compiled extends { readonly definition: Definition }>(
  definitions: readonly Definition[],
  { nameOf, compile, known, unreadable }: PartOptions<Definition, Compiled>,
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
  return inOrder(compiled)
}

/** Definitions mostly come in order, and then sorting would cost as much as all else. */
function inOrder<Value>(map: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  let last: string | undefined
  for (const name of map.keys()) {
    if (last !== undefined && compareCodePoints(last, name) > 0) {
      return new Map([...map].sort(([left], [right]) => compareCodePoints(left, right)))
    }
    last = name
  }
  return map
}

/** What was compiled with other engines means something else. */
function reusable(previous: FlagSet | undefined, engines: Engines): FlagSet | undefined {
  const { regex, schemes } = previous?.engines ?? {}
  return regex === engines.regex && schemes === engines.schemes ? previous : undefined
}

/** Whether two definitions say the same; the order of names in them does not matter. */
export function isSameDefinition(left: unknown, right: unknown): boolean {
  return left === right || jsonEquals(left as JsonValue, right as JsonValue)
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

function malformedAmong(
  ordered: readonly CompiledFlag[],
  lost: ReadonlySet<string>,
): ReadonlySet<string> {
  if (lost.size === 0) return NOBODY
  return new Set(ordered.map(({ key }) => key).filter((key) => lost.has(flagName(key))))
}

const NOBODY: ReadonlySet<string> = new Set()

type Findings = Pick<FlagSet, 'ordered' | 'segments' | 'dependencies'>

function findIssues({ ordered, segments, dependencies }: Findings): FlagSetIssue[] {
  const { nodes, lost } = dependencies
  const needs = new Map(lost.size === 0 ? [] : nodes.map((node) => [node.name, node.needs]))
  const lostMessages = (name: string): string[] => {
    if (!lost.has(name)) return []
    const missing = (needs.get(name) ?? []).filter((need) => !needs.has(need))
    if (missing.length === 0) return [`The ${name} needs itself, or what is broken or too deep.`]
    return missing.map((need) => `The ${name} needs the ${need}, which does not exist.`)
  }
  const found: FlagSetIssue[] = []
  for (const { key: flagKey, issues } of ordered) {
    for (const message of issues) found.push({ flagKey, message })
    if (lost.size === 0) continue
    for (const message of lostMessages(flagName(flagKey))) found.push({ flagKey, message })
  }
  for (const [segmentId, { issues }] of segments) {
    for (const message of issues) found.push({ segmentId, message })
    if (lost.size === 0) continue
    for (const message of lostMessages(segmentName(segmentId))) found.push({ segmentId, message })
  }
  return found
}
