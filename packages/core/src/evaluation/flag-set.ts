import { sortByCodePoints } from '../model/code-point.ts'
import type { FlagSetDefinition } from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import { type Incremental, Pace, runToEnd } from '../model/incremental.ts'
import { isSameDefinition } from '../model/json.ts'
import { ConditionCompiler } from '../operators/condition.ts'
import { type GradualRollout, timestampsOf } from '../rollouts/gradual-rollout.ts'
import { EvaluationCache } from './evaluation-cache.ts'
import { NONE_MALFORMED } from './evaluator.ts'
import { CompiledFlag } from './flag.ts'
import { type FlagDependencies, findDependencies } from './flag-dependencies.ts'
import { flagName } from './references.ts'
import { CompiledSegment } from './segment.ts'

/** The compiled definitions of an environment, ready for evaluation. Immutable. */
export interface FlagSet {
  readonly version: number
  /** The definition that was compiled. */
  readonly definition: FlagSetDefinition
  /** The extensions that were passed to `compileFlagSet`. */
  readonly extensions: Extensions
  /** The flags that a caller can evaluate, by key, sorted by the code points of the keys. */
  readonly flags: ReadonlyMap<string, CompiledFlag>
  /**
   * All flags by key, for conditions on flags. In a client view, these include the invisible flags
   * that visible flags depend on.
   */
  readonly flagsByKey: ReadonlyMap<string, CompiledFlag>
  /** The segments by id. */
  readonly segments: ReadonlyMap<string, CompiledSegment>
  /**
   * The times of all steps of the gradual rollouts of active flags, in epoch milliseconds, in
   * ascending order.
   */
  readonly timestamps: readonly number[]
  /** The flags of `flags` as an array, in the same order. */
  readonly ordered: readonly CompiledFlag[]
  /** All flags by id, for prerequisites. */
  readonly flagsById: ReadonlyMap<string, CompiledFlag>
  readonly dependencies: FlagDependencies
  /** The keys of the active flags that cannot be evaluated. They serve their default variations. */
  readonly malformed: ReadonlySet<string>
  /** The cache of evaluations. It does not change any result. */
  readonly cache: EvaluationCache
}

/** The options of `compileFlagSet`. */
export interface CompileOptions {
  /**
   * The flag set of an earlier version. The compiled form of unchanged definitions is reused if
   * both versions have the same `regex` and `schemes` objects as extensions.
   */
  readonly previous?: FlagSet | undefined
  readonly extensions?: Extensions | undefined
}

/**
 * Compiles the definitions of an environment. Never throws. A flag or segment is compiled when it is
 * first evaluated. A broken flag serves its default variation with the reason `ERROR`, and
 * `findIssues` returns its faults. The definition must not be modified afterwards.
 */
export function compileFlagSet(
  definition: FlagSetDefinition,
  options: CompileOptions = {},
): FlagSet {
  return runToEnd(compileIncrementally(definition, options))
}

/**
 * Compiles like `compileFlagSet`, and yields about every millisecond, so that a server can do other
 * work meanwhile. `prepareDefinitions` then compiles the flags and segments in the same way.
 *
 * @example
 * const work = compileIncrementally(definition, { previous })
 * for (;;) {
 *   const { done, value } = work.next()
 *   if (done) return value
 *   await new Promise((resolve) => setImmediate(resolve))
 * }
 */
export function* compileIncrementally(
  definition: FlagSetDefinition,
  options: CompileOptions = {},
): Incremental<FlagSet> {
  const { extensions = {} } = options
  const previous = reusable(options.previous, extensions)
  const compiler = new ConditionCompiler(extensions)
  const segments = yield* indexed(definition.segments, {
    nameOf: (segment) => segment?.id,
    create: (segment) => new CompiledSegment(segment, compiler),
    known: previous?.segments,
  })
  const flags = yield* indexed(definition.flags, {
    nameOf: (flag) => flag?.key,
    create: (flag) => new CompiledFlag(flag, compiler),
    known: previous?.flags,
  })
  return yield* toFlagSet({ definition, extensions, segments, flags }, previous)
}

/**
 * Compiles the flags and segments that have not been compiled yet, and yields about every
 * millisecond. Without this call, each is compiled when it is first evaluated.
 * `prepareIncrementally` of `@ff/core/all-flags` includes this preparation.
 */
export function* prepareDefinitions({ flagsByKey, segments }: FlagSet): Incremental<void> {
  const pace = new Pace()
  for (const segment of segments.values()) yield* segment.prepare(pace)
  for (const flag of flagsByKey.values()) yield* flag.prepare(pace)
}

function* toFlagSet(
  compiled: Pick<FlagSet, 'definition' | 'extensions' | 'segments' | 'flags'>,
  previous: FlagSet | undefined,
): Incremental<FlagSet> {
  const { definition, flags, segments } = compiled
  const pace = new Pace()
  const ordered = [...flags.values()]
  const flagsById = new Map<string, CompiledFlag>()
  for (const flag of ordered) flagsById.set(flag.definition.id, flag)
  if (pace.add(flags.size)) yield
  const dependencies = findDependencies({ flags, flagsById, segments }, previous?.dependencies)
  if (pace.add(flags.size)) yield
  return Object.freeze({
    ...compiled,
    version: definition.version,
    timestamps: timestampsOfFlags(flags, previous),
    ordered,
    flagsByKey: flags,
    flagsById,
    dependencies,
    malformed: malformedAmong(ordered, dependencies.unresolvable),
    cache: new EvaluationCache(previous?.cache),
  })
}

interface IndexOptions<Definition, Compiled> {
  readonly nameOf: (definition: Definition) => unknown
  /** Throws if the definition does not have the declared type. */
  readonly create: (definition: Definition) => Compiled
  /** The compiled definitions of the previous flag set. */
  readonly known: ReadonlyMap<string, Compiled> | undefined
}

/** The work of the first look at a definition. */
const INDEX_WORK = 64

/** Returns the definitions by name. Definitions that `known` contains are reused. */
function* indexed<Definition, Compiled extends { readonly definition: Definition }>(
  definitions: readonly Definition[],
  { nameOf, create, known }: IndexOptions<Definition, Compiled>,
): Incremental<ReadonlyMap<string, Compiled>> {
  const found = new Map<string, Compiled>()
  const pace = new Pace()
  for (const definition of Array.isArray(definitions) ? (definitions as Definition[]) : []) {
    const name = nameOf(definition)
    if (typeof name !== 'string' || found.has(name)) continue
    const before = known?.get(name)
    if (before?.definition === definition) {
      found.set(name, before)
      continue
    }
    try {
      const isKnown = before !== undefined && isSameDefinition(before.definition, definition)
      found.set(name, isKnown ? before : create(definition))
    } catch {
      // The definition is omitted. `findIssues` reports it.
    }
    if (pace.add(INDEX_WORK)) yield
  }
  return inOrder(found)
}

function inOrder<Value>(map: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  const names = sortByCodePoints([...map.keys()])
  const ordered = new Map<string, Value>()
  for (const name of names) ordered.set(name, map.get(name) as Value)
  return ordered
}

/** Returns `previous`, or `undefined` if it was compiled with other extensions. */
function reusable(previous: FlagSet | undefined, extensions: Extensions): FlagSet | undefined {
  const { regex, schemes } = previous?.extensions ?? {}
  return regex === extensions.regex && schemes === extensions.schemes ? previous : undefined
}

/**
 * Returns the timestamps of all gradual rollouts of active flags. Returns the array of `previous`
 * if the gradual rollouts are the same.
 */
export function timestampsOfFlags(
  flags: ReadonlyMap<string, CompiledFlag>,
  previous: FlagSet | undefined,
): readonly number[] {
  const gradualRollouts = activeGradualRollouts(flags)
  const before = previous === undefined ? [] : activeGradualRollouts(previous.flagsByKey)
  const isSame =
    gradualRollouts.length === before.length &&
    gradualRollouts.every((gradual, at) => gradual === before[at])
  return previous !== undefined && isSame ? previous.timestamps : timestampsOf(gradualRollouts)
}

function activeGradualRollouts(
  flags: ReadonlyMap<string, CompiledFlag>,
): readonly GradualRollout[] {
  const found: GradualRollout[] = []
  for (const { isActive, gradualRollouts } of flags.values()) {
    if (isActive) for (const gradual of gradualRollouts) found.push(gradual)
  }
  return found
}

function malformedAmong(
  ordered: readonly CompiledFlag[],
  unresolvable: ReadonlySet<string>,
): ReadonlySet<string> {
  if (unresolvable.size === 0) return NONE_MALFORMED
  return new Set(ordered.map(({ key }) => key).filter((key) => unresolvable.has(flagName(key))))
}
