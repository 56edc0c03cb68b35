import { compareCodePoints } from '../model/code-point.ts'
import type { ConditionDefinition, FlagSetDefinition } from '../model/definition.ts'
import type { Engines } from '../model/engines.ts'
import { type JsonValue, jsonEquals } from '../model/json.ts'
import { finish, type Parts } from '../model/parts.ts'
import { sharedConditions } from '../operators/condition.ts'
import { instantsOf, type Ramp } from '../rollouts/ramp.ts'
import { type CompiledFlag, compileFlagInParts } from './flag.ts'
import { type FlagDependencies, findDependencies } from './flag-dependencies.ts'
import { flagName } from './links.ts'
import { type CompiledSegment, compileSegment } from './segment.ts'
import { Workspace } from './workspace.ts'

/** An environment made ready for evaluation: immutable, and safe to share. */
export interface FlagSet {
  readonly version: number
  /** What it was compiled from; `mergeChanges` makes the next one of it. */
  readonly definition: FlagSetDefinition
  /** What it was compiled with. */
  readonly engines: Engines
  /** The flags that are answered, by key, in the order of the keys' code points. */
  readonly flags: ReadonlyMap<string, CompiledFlag>
  /** All flags by key: what conditions refer to. Those of a client view are not all answered. */
  readonly flagsByKey: ReadonlyMap<string, CompiledFlag>
  /** By id. */
  readonly segments: ReadonlyMap<string, CompiledSegment>
  /** Epoch milliseconds, ascending, at which gradual rollouts change what is served. */
  readonly instants: readonly number[]
  /** `flags` once more, in the same order: what evaluation walks. */
  readonly ordered: readonly CompiledFlag[]
  /** All flags by id: what prerequisites refer to. */
  readonly flagsById: ReadonlyMap<string, CompiledFlag>
  readonly dependencies: FlagDependencies
  /** The keys of the active flags whose answer cannot be worked out. */
  readonly malformed: ReadonlySet<string>
  readonly workspace: Workspace
}

/** What `compileFlagSet` may be given beside the definition. */
export interface CompileOptions {
  /** The set before the change: everything whose definition is unchanged is kept. */
  readonly previous?: FlagSet | undefined
  readonly engines?: Engines | undefined
}

/**
 * Turns a definition into its fast form. Never throws: flags that are broken answer with reason
 * `ERROR`, and `findIssues` says what is wrong. The definition must not be modified afterwards.
 */
export function compileFlagSet(
  definition: FlagSetDefinition,
  options: CompileOptions = {},
): FlagSet {
  return finish(compileInParts(definition, options))
}

/**
 * Compiles as `compileFlagSet` does, in parts of about a millisecond: between any two a server can
 * do something else.
 *
 * @example
 * const parts = compileInParts(definition, { previous })
 * for (;;) {
 *   const { done, value } = parts.next()
 *   if (done) return value
 *   await new Promise((resolve) => setImmediate(resolve))
 * }
 */
export function* compileInParts(
  definition: FlagSetDefinition,
  options: CompileOptions = {},
): Parts<FlagSet> {
  const { engines = {} } = options
  const previous = reusable(options.previous, engines)
  const compileCondition = sharedConditions(engines)
  const segments = yield* compileAll(definition.segments, {
    nameOf: (segment) => segment?.id,
    conditionsOf: ({ rules }) => rules,
    compileCondition,
    // biome-ignore lint/correctness/useYield: a segment is compiled in one part.
    *compile(segment) {
      return compileSegment(segment, compileCondition)
    },
    known: previous?.segments,
  })
  const flags = yield* compileAll(definition.flags, {
    nameOf: (flag) => flag?.key,
    conditionsOf: ({ rules }) => rules.flatMap(({ conditions }) => conditions),
    compileCondition,
    compile: (flag) => compileFlagInParts(flag, engines, compileCondition),
    known: previous?.flags,
  })
  return toFlagSet({ definition, engines, segments, flags }, previous)
}

function toFlagSet(
  parts: Pick<FlagSet, 'definition' | 'engines' | 'segments' | 'flags'>,
  previous: FlagSet | undefined,
): FlagSet {
  const { definition, flags, segments } = parts
  const ordered = [...flags.values()]
  const flagsById = new Map(ordered.map((flag) => [flag.definition.id, flag]))
  const dependencies = findDependencies({ flags, flagsById, segments }, previous?.dependencies)
  return Object.freeze({
    ...parts,
    version: definition.version,
    instants: instantsOfFlags(flags, previous),
    ordered,
    flagsByKey: flags,
    flagsById,
    dependencies,
    malformed: malformedAmong(ordered, dependencies.lost),
    workspace: new Workspace(previous?.workspace),
  })
}

interface PartOptions<Definition, Compiled> {
  readonly nameOf: (definition: Definition) => unknown
  readonly conditionsOf: (definition: Definition) => readonly ConditionDefinition[]
  readonly compileCondition: (definition: ConditionDefinition) => unknown
  readonly compile: (definition: Definition) => Parts<Compiled>
  /** What the previous set had compiled. */
  readonly known: ReadonlyMap<string, Compiled> | undefined
}

/** After how many definitions a part of the work is done. */
const DEFINITIONS_A_PART = 8
/** After how many characters of conditions' values a part of the work is done. */
const CHARACTERS_A_PART = 4096

function* compileAll<Definition, Compiled extends { readonly definition: Definition }>(
  definitions: readonly Definition[],
  options: PartOptions<Definition, Compiled>,
): Parts<ReadonlyMap<string, Compiled>> {
  const { nameOf, compile, known } = options
  const compiled = new Map<string, Compiled>()
  const list = Array.isArray(definitions) ? (definitions as Definition[]) : []
  for (let at = reuse(list, 0, compiled, options); at < list.length; ) {
    const definition = list[at] as Definition
    const name = nameOf(definition)
    try {
      if (typeof name === 'string' && !compiled.has(name)) {
        const before = known?.get(name)
        const isKnown = before !== undefined && isSameDefinition(before.definition, definition)
        if (!isKnown) yield* compileLongConditions(definition, options)
        compiled.set(name, isKnown ? before : yield* compile(definition))
      }
    } catch {
      // It is left out; `findIssues` says so.
    }
    if (compiled.size % DEFINITIONS_A_PART === 0) yield
    at = reuse(list, at + 1, compiled, options)
  }
  return inOrder(compiled)
}

/**
 * Takes over what the previous set had compiled of the very same definitions, from a position up to
 * the first other definition. Returns the position of that one.
 */
function reuse<Definition, Compiled extends { readonly definition: Definition }>(
  definitions: readonly Definition[],
  start: number,
  compiled: Map<string, Compiled>,
  { nameOf, known }: PartOptions<Definition, Compiled>,
): number {
  let at = start
  for (; at < definitions.length; at += 1) {
    const definition = definitions[at] as Definition
    const name = nameOf(definition) as string
    const before = known?.get(name)
    if (before === undefined || before.definition !== definition || compiled.has(name)) break
    compiled.set(name, before)
  }
  return at
}

/**
 * Compiles the conditions of a definition one by one if their values are long, so that they are
 * known when the definition is compiled as a whole.
 */
function* compileLongConditions<Definition, Compiled>(
  definition: Definition,
  { conditionsOf, compileCondition }: PartOptions<Definition, Compiled>,
): Parts<void> {
  const conditions = conditionsOf(definition)
  const length = conditions.reduce((sum, { value }) => sum + value.length, 0)
  if (length <= CHARACTERS_A_PART) return
  let compiled = 0
  for (const condition of conditions) {
    compileCondition(condition)
    compiled += condition.value.length
    if (compiled <= CHARACTERS_A_PART) continue
    compiled = 0
    yield
  }
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

/** The timestamps of the gradual rollouts of these flags; those of `previous` if they are equal. */
export function instantsOfFlags(
  flags: ReadonlyMap<string, CompiledFlag>,
  previous: FlagSet | undefined,
): readonly number[] {
  const ramps = activeRamps(flags)
  const before = previous === undefined ? [] : activeRamps(previous.flagsByKey)
  const isSame = ramps.length === before.length && ramps.every((ramp, at) => ramp === before[at])
  return previous !== undefined && isSame ? previous.instants : instantsOf(ramps)
}

function activeRamps(flags: ReadonlyMap<string, CompiledFlag>): readonly Ramp[] {
  return [...flags.values()].flatMap(({ definition, ramps }) => (definition.isActive ? ramps : []))
}

function malformedAmong(
  ordered: readonly CompiledFlag[],
  lost: ReadonlySet<string>,
): ReadonlySet<string> {
  if (lost.size === 0) return NOBODY
  return new Set(ordered.map(({ key }) => key).filter((key) => lost.has(flagName(key))))
}

const NOBODY: ReadonlySet<string> = new Set()
