import { compareCodePoints } from '../model/code-point.ts'
import type { ConditionDefinition, FlagSetDefinition } from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import { type Incremental, runToEnd } from '../model/incremental.ts'
import { isSameDefinition } from '../model/json.ts'
import { sharedConditions } from '../operators/condition.ts'
import { type GradualRollout, timestampsOf } from '../rollouts/gradual-rollout.ts'
import { EvaluationCache } from './evaluation-cache.ts'
import { NONE_MALFORMED } from './evaluator.ts'
import { type CompiledFlag, compileFlag } from './flag.ts'
import { type FlagDependencies, findDependencies } from './flag-dependencies.ts'
import { flagName } from './references.ts'
import { type CompiledSegment, compileSegment } from './segment.ts'

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
 * Compiles the definitions of an environment. Never throws. A broken flag serves its default
 * variation with the reason `ERROR`, and `findIssues` returns its faults. The definition must not
 * be modified afterwards.
 */
export function compileFlagSet(
  definition: FlagSetDefinition,
  options: CompileOptions = {},
): FlagSet {
  return runToEnd(compileIncrementally(definition, options))
}

/**
 * Compiles like `compileFlagSet`, and yields about every millisecond, so that a server can do other
 * work meanwhile.
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
  const compileCondition = sharedConditions(extensions)
  const segments = yield* compileAll(definition.segments, {
    nameOf: (segment) => segment?.id,
    conditionsOf: ({ rules }) => rules,
    compileCondition,
    // biome-ignore lint/correctness/useYield: a segment is compiled in one chunk.
    *compile(segment) {
      return compileSegment(segment, compileCondition)
    },
    known: previous?.segments,
  })
  const flags = yield* compileAll(definition.flags, {
    nameOf: (flag) => flag?.key,
    conditionsOf: ({ rules }) => rules.flatMap(({ conditions }) => conditions),
    compileCondition,
    compile: (flag) => compileFlag(flag, extensions, compileCondition),
    known: previous?.flags,
  })
  return toFlagSet({ definition, extensions, segments, flags }, previous)
}

function toFlagSet(
  compiled: Pick<FlagSet, 'definition' | 'extensions' | 'segments' | 'flags'>,
  previous: FlagSet | undefined,
): FlagSet {
  const { definition, flags, segments } = compiled
  const ordered = [...flags.values()]
  const flagsById = new Map(ordered.map((flag) => [flag.definition.id, flag]))
  const dependencies = findDependencies({ flags, flagsById, segments }, previous?.dependencies)
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

interface DefinitionOptions<Definition, Compiled> {
  readonly nameOf: (definition: Definition) => unknown
  readonly conditionsOf: (definition: Definition) => readonly ConditionDefinition[]
  readonly compileCondition: (definition: ConditionDefinition) => unknown
  readonly compile: (definition: Definition) => Incremental<Compiled>
  /** The compiled definitions of the previous flag set. */
  readonly known: ReadonlyMap<string, Compiled> | undefined
}

/** The number of definitions that are compiled without interruption. */
const DEFINITIONS_PER_CHUNK = 8
/** The number of characters of condition values that are compiled without interruption. */
const CHARACTERS_PER_CHUNK = 4096

function* compileAll<Definition, Compiled extends { readonly definition: Definition }>(
  definitions: readonly Definition[],
  options: DefinitionOptions<Definition, Compiled>,
): Incremental<ReadonlyMap<string, Compiled>> {
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
      // The definition is omitted. `findIssues` reports it.
    }
    if (compiled.size % DEFINITIONS_PER_CHUNK === 0) yield
    at = reuse(list, at + 1, compiled, options)
  }
  return inOrder(compiled)
}

/**
 * Copies the compiled definitions of the previous flag set, from index `start` up to the first
 * definition that is not the same object. Returns the index of that definition.
 */
function reuse<Definition, Compiled extends { readonly definition: Definition }>(
  definitions: readonly Definition[],
  start: number,
  compiled: Map<string, Compiled>,
  { nameOf, known }: DefinitionOptions<Definition, Compiled>,
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
 * Compiles the conditions of a definition one by one if their values are long. The results are
 * cached, so that the following compilation of the definition reuses them.
 */
function* compileLongConditions<Definition, Compiled>(
  definition: Definition,
  { conditionsOf, compileCondition }: DefinitionOptions<Definition, Compiled>,
): Incremental<void> {
  const conditions = conditionsOf(definition)
  const length = conditions.reduce((sum, { value }) => sum + value.length, 0)
  if (length <= CHARACTERS_PER_CHUNK) return
  let compiled = 0
  for (const condition of conditions) {
    compileCondition(condition)
    compiled += condition.value.length
    if (compiled <= CHARACTERS_PER_CHUNK) continue
    compiled = 0
    yield
  }
}

/**
 * Sorts a map by its keys. Most maps are sorted already, and a check is much faster than a sort.
 */
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
  return [...flags.values()].flatMap(({ definition, gradualRollouts }) =>
    definition.isActive ? gradualRollouts : [],
  )
}

function malformedAmong(
  ordered: readonly CompiledFlag[],
  unresolvable: ReadonlySet<string>,
): ReadonlySet<string> {
  if (unresolvable.size === 0) return NONE_MALFORMED
  return new Set(ordered.map(({ key }) => key).filter((key) => unresolvable.has(flagName(key))))
}
