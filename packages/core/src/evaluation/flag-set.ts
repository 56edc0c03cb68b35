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

/** An environment made ready for evaluation: immutable, and safe to share. */
export interface FlagSet {
  readonly version: number
  /** What it was compiled from; `mergeChanges` makes the next one of it. */
  readonly definition: FlagSetDefinition
  /** What it was compiled with. */
  readonly extensions: Extensions
  /** The flags that are answered, by key, in the order of the keys' code points. */
  readonly flags: ReadonlyMap<string, CompiledFlag>
  /** All flags by key: what conditions refer to. Those of a client view are not all answered. */
  readonly flagsByKey: ReadonlyMap<string, CompiledFlag>
  /** By id. */
  readonly segments: ReadonlyMap<string, CompiledSegment>
  /** Epoch milliseconds, ascending, at which gradual rollouts change what is served. */
  readonly timestamps: readonly number[]
  /** `flags` once more, in the same order: what evaluation walks. */
  readonly ordered: readonly CompiledFlag[]
  /** All flags by id: what prerequisites refer to. */
  readonly flagsById: ReadonlyMap<string, CompiledFlag>
  readonly dependencies: FlagDependencies
  /** The keys of the active flags whose answer cannot be worked out. */
  readonly malformed: ReadonlySet<string>
  /** What evaluating this flag set caches; no result depends on it. */
  readonly cache: EvaluationCache
}

/** What `compileFlagSet` may be given beside the definition. */
export interface CompileOptions {
  /** The set before the change: everything whose definition is unchanged is kept. */
  readonly previous?: FlagSet | undefined
  readonly extensions?: Extensions | undefined
}

/**
 * Turns a definition into its fast form. Never throws: flags that are broken answer with reason
 * `ERROR`, and `findIssues` says what is wrong. The definition must not be modified afterwards.
 */
export function compileFlagSet(
  definition: FlagSetDefinition,
  options: CompileOptions = {},
): FlagSet {
  return runToEnd(compileIncrementally(definition, options))
}

/**
 * Compiles as `compileFlagSet` does, in chunks of about a millisecond: between two chunks a server
 * can do other work.
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
  /** What the previous set had compiled. */
  readonly known: ReadonlyMap<string, Compiled> | undefined
}

/** A chunk of work ends after this many definitions. */
const DEFINITIONS_PER_CHUNK = 8
/** A chunk of work ends after this many characters of conditions' values. */
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
      // It is left out; `findIssues` says so.
    }
    if (compiled.size % DEFINITIONS_PER_CHUNK === 0) yield
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
 * Compiles the conditions of a definition one by one if their values are long, so that they are
 * known when the definition is compiled as a whole.
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

/** Returns `undefined` for a flag set that was compiled with other extensions. */
function reusable(previous: FlagSet | undefined, extensions: Extensions): FlagSet | undefined {
  const { regex, schemes } = previous?.extensions ?? {}
  return regex === extensions.regex && schemes === extensions.schemes ? previous : undefined
}

/** The timestamps of the gradual rollouts of these flags; those of `previous` if they are equal. */
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
