import type { FlagSetDefinition } from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import { type Incremental, Pace, runToEnd } from '../model/incremental.ts'
import { isSameDefinition } from '../model/json.ts'
import { ConditionCompiler } from '../operators/condition.ts'
import { type GradualRollout, timestampsOf } from '../rollouts/gradual-rollout.ts'
import { type DefinitionIndex, indexDefinitions, type Replacement } from './definition-index.ts'
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
  /**
   * A compiler that several flag sets share, in place of `extensions`. Their equal conditions then
   * use memory once. It refers to all conditions that it has compiled.
   */
  readonly compiler?: ConditionCompiler | undefined
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
  const { compiler = new ConditionCompiler(options.extensions ?? {}) } = options
  const { extensions } = compiler
  const previous = reusable(options.previous, extensions)
  const segments = yield* indexDefinitions(definition.segments, {
    nameOf: (segment) => segment?.id,
    create: (segment) => new CompiledSegment(segment, compiler),
    previous: previous && { definitions: previous.definition.segments, byName: previous.segments },
  })
  const flags = yield* indexDefinitions(definition.flags, {
    nameOf: (flag) => flag?.key,
    create: (flag) => new CompiledFlag(flag, compiler),
    previous: previous && { definitions: previous.definition.flags, byName: previous.flags },
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

interface Compiled extends Pick<FlagSet, 'definition' | 'extensions'> {
  readonly segments: DefinitionIndex<CompiledSegment>
  readonly flags: DefinitionIndex<CompiledFlag>
}

function* toFlagSet(
  { definition, extensions, segments, flags }: Compiled,
  previous: FlagSet | undefined,
): Incremental<FlagSet> {
  const pace = new Pace()
  const ordered = [...flags.byName.values()]
  const sameIds = previous && withSameIds(previous.flagsById, flags.replaced)
  const flagsById = sameIds ?? new Map(ordered.map((flag) => [flag.definition.id, flag]))
  if (pace.add(flags.byName.size)) yield
  const compiled = { flags: flags.byName, flagsById, segments: segments.byName }
  const isKnown =
    sameIds && areReferencesSame(flags.replaced) && areReferencesSame(segments.replaced)
  const known = isKnown ? previous : undefined
  const dependencies = known?.dependencies ?? findDependencies(compiled)
  if (pace.add(flags.byName.size)) yield
  return Object.freeze({
    ...{ definition, extensions, version: definition.version },
    ...{ ...compiled, ordered, flagsByKey: flags.byName, dependencies },
    timestamps: timestampsOfFlags(flags.byName, previous),
    malformed: known?.malformed ?? malformedAmong(ordered, dependencies.unresolvable),
    cache: new EvaluationCache(previous?.cache),
  })
}

/**
 * Returns the flags of the next version by id. Returns `undefined` if flags were added or removed,
 * or if the id of a changed flag is new or belongs to another flag.
 */
function withSameIds(
  byId: ReadonlyMap<string, CompiledFlag>,
  replaced: readonly Replacement<CompiledFlag>[] | undefined,
): ReadonlyMap<string, CompiledFlag> | undefined {
  const isSame = replaced?.every(({ before, after }) => byId.get(after.definition.id) === before)
  if (replaced === undefined || !isSame) return undefined
  const next = new Map(byId)
  for (const { after } of replaced) next.set(after.definition.id, after)
  return next
}

type Referring = CompiledFlag | CompiledSegment

function areReferencesSame(replaced: readonly Replacement<Referring>[] | undefined): boolean {
  return (
    replaced?.every(({ before, after }) => {
      return isSameDefinition(before.references, after.references)
    }) === true
  )
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
