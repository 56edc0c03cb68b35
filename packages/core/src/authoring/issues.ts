import { CompiledFlag } from '../evaluation/flag.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { flagName, segmentName } from '../evaluation/references.ts'
import type { CompiledRule } from '../evaluation/rule.ts'
import { CompiledSegment } from '../evaluation/segment.ts'
import type { ConditionDefinition } from '../model/definition.ts'
import type { Extensions } from '../model/extensions.ts'
import { getOrMake } from '../model/get-or-make.ts'
import { isSameDefinition } from '../model/json.ts'
import { clip, quote } from '../model/quote.ts'
import { type CompiledCondition, ConditionCompiler } from '../operators/condition.ts'
import { BUCKETS } from '../rollouts/bucket.ts'
import { type CompiledRollout, compileRollout, type RolloutFault } from '../rollouts/rollout.ts'
import { conditionFault } from './condition-fault.ts'
import { type DependencyFault, explainUnresolvable } from './dependency-faults.ts'

/** A fault or a probable mistake in a flag set. */
export interface FlagSetIssue {
  /**
   * The severity. A flag with a `warning` is valid but probably does not serve the intended value.
   */
  readonly severity: 'error' | 'warning'
  readonly flagKey?: string
  readonly segmentId?: string
  readonly message: string
}

/** Returns all errors of a flag set, followed by all warnings. */
export function findIssues(flagSet: FlagSet): readonly FlagSetIssue[] {
  const warnings = flagSet.ordered.filter(isOnWhenSwitchedOff).map(({ key: flagKey }) => {
    return { severity: 'warning', flagKey, message: ON_WHEN_SWITCHED_OFF } as const
  })
  return [...findErrors(flagSet), ...warnings]
}

const ON_WHEN_SWITCHED_OFF =
  'The flag serves `true` while it is inactive. Set an off variation with the value `false`.'

function isOnWhenSwitchedOff({ disabled, definition }: CompiledFlag): boolean {
  const { variation, explanation } = disabled
  const isServed = explanation.reason === 'DISABLED'
  return isServed && definition.type === 'boolean' && variation?.value === true
}

/** Returns the errors of a flag set, without the warnings of `findIssues`. */
export function findErrors(flagSet: FlagSet): readonly FlagSetIssue[] {
  const found = findLeftOut(flagSet)
  forEachDefinition(flagSet, ({ subject, own, dependencies }) => {
    const messages = [...own, ...dependencies.map(({ message }) => message)]
    for (const message of messages) found.push({ severity: 'error', ...subject, message })
  })
  return found
}

/**
 * Returns the errors of `findErrors` as sentences that name the flag or segment, by a text that
 * identifies the error.
 */
export function sentencesByIdentity(flagSet: FlagSet): ReadonlyMap<string, string> {
  const found = new Map(findLeftOut(flagSet).map(({ message }) => [message, message]))
  forEachDefinition(flagSet, ({ subject, own, dependencies }) => {
    const { flagKey, segmentId } = subject
    const name = flagKey === undefined ? `Segment ${segmentId}` : `Flag "${flagKey}"`
    for (const message of own) found.set(`${name}: ${message}`, `${name}: ${message}`)
    for (const { identity, message } of dependencies) found.set(identity, message)
  })
  return found
}

interface FaultyDefinition {
  readonly subject: Pick<FlagSetIssue, 'flagKey' | 'segmentId'>
  /** The faults of the parts of the flag or segment. */
  readonly own: readonly string[]
  readonly dependencies: readonly DependencyFault[]
}

/** Calls `visit` for each flag, then for each segment. */
function forEachDefinition(flagSet: FlagSet, visit: (definition: FaultyDefinition) => void): void {
  const { ordered, segments, extensions } = flagSet
  const dependencyFaults = explainUnresolvable(flagSet)
  for (const flag of ordered) {
    flag.faults ??= exact(faultsOfFlag(flag, extensions))
    const own = flag.faults
    const dependencies = dependencyFaults(flagName(flag.key))
    visit({ subject: { flagKey: flag.key }, own, dependencies })
  }
  for (const [segmentId, segment] of segments) {
    const { conditions, definition } = segment
    segment.faults ??= exact(faultsOfConditions(conditions, definition.rules, extensions))
    const own = segment.faults
    visit({ subject: { segmentId }, own, dependencies: dependencyFaults(segmentName(segmentId)) })
  }
}

const NONE: readonly string[] = []

/** Returns one shared list if there are no faults, so that the faults of all flags use no memory. */
function exact(faults: readonly string[]): readonly string[] {
  return faults.length === 0 ? NONE : faults
}

/**
 * Returns an issue for each flag or segment of the definition that the flag set does not contain.
 */
function findLeftOut({ definition, flags, segments, extensions }: FlagSet): FlagSetIssue[] {
  const compiler = new ConditionCompiler(extensions)
  return [
    ...messagesOf(definition.segments, {
      compiled: segments,
      nameOf: (segment) => segment?.id,
      create: (segment) => new CompiledSegment(segment, compiler),
    }),
    ...messagesOf(definition.flags, {
      compiled: flags,
      nameOf: (flag) => flag?.key,
      create: (flag) => new CompiledFlag(flag, compiler),
    }),
  ].map((message) => ({ severity: 'error', message }))
}

interface LeftOutOptions<Definition> {
  /** The compiled definitions, by name. */
  readonly compiled: ReadonlyMap<unknown, { readonly definition: Definition }>
  readonly nameOf: (definition: Definition) => unknown
  readonly create: (definition: Definition) => unknown
}

function messagesOf<Definition>(
  definitions: readonly Definition[],
  { compiled, nameOf, create }: LeftOutOptions<Definition>,
): string[] {
  if (!Array.isArray(definitions)) return ['`flags` and `segments` must be arrays.']
  if (definitions.length === compiled.size) return []
  const found = new Set<unknown>()
  return (definitions as readonly Definition[]).flatMap((definition) => {
    const name = nameOf(definition)
    if (typeof name !== 'string') return 'A definition without a key or id is ignored.'
    if (found.has(name)) return `A second definition of ${quote(name)} is ignored.`
    if (isSameDefinition(compiled.get(name)?.definition, definition)) {
      found.add(name)
      return []
    }
    const why = errorOf(() => create(definition))
    return `${quote(name)} is ignored, because its definition is invalid: ${why}.`
  })
}

function errorOf(run: () => unknown): string {
  try {
    run()
    return ''
  } catch (error) {
    return clip(String(error))
  }
}

function faultsOfConditions(
  conditions: readonly CompiledCondition[],
  definitions: readonly ConditionDefinition[],
  extensions: Extensions,
): readonly string[] {
  // Most conditions are valid, and need no lists.
  if (conditions.every(({ test }) => test !== undefined)) return NONE
  return definitions.flatMap((definition, index) => {
    // Only invalid conditions are compiled again.
    const isValid = conditions[index]?.test !== undefined
    return isValid ? [] : (conditionFault(definition, extensions) ?? [])
  })
}

/**
 * Returns the faults of one flag that can affect its results, without the faults of its
 * dependencies.
 */
function faultsOfFlag(flag: CompiledFlag, extensions: Extensions): string[] {
  const { defaultVariationId, offVariationId, targets } = flag.definition
  const servable = servableOf(flag)
  const faultsOfRollout = rolloutFaults(flag, { servable, extensions })
  return [
    ...flag.variations.flatMap(({ id, fault }) => {
      return fault === undefined ? [] : `The variation ${quote(id)} is invalid. ${fault}.`
    }),
    ...faultOfServing(servable, 'The default', defaultVariationId),
    ...faultOfServing(servable, 'The off variation', offVariationId),
    ...targets.flatMap(({ variationId }) => faultOfServing(servable, 'A target', variationId)),
    ...flag.rules.flatMap((rule) => faultsOfRule(rule, { servable, extensions, faultsOfRollout })),
  ]
}

/** Returns the ids of the variations with a valid value. */
function servableOf({ variations }: CompiledFlag): ReadonlySet<string> {
  return new Set(variations.filter(({ fault }) => fault === undefined).map(({ id }) => id))
}

function faultOfServing(servable: ReadonlySet<string>, what: string, variationId: string | null) {
  if (variationId === null || servable.has(variationId)) return NONE
  return [`${what} refers to the variation ${quote(variationId)}, which is missing or invalid.`]
}

interface FlagSurroundings {
  /** The ids of the variations of the flag with a valid value. */
  readonly servable: ReadonlySet<string>
  readonly extensions: Extensions
}

interface RuleSurroundings extends FlagSurroundings {
  readonly faultsOfRollout: (rule: CompiledRule) => readonly string[]
}

function faultsOfRule(
  rule: CompiledRule,
  { servable, extensions, faultsOfRollout }: RuleSurroundings,
): readonly string[] {
  const { id, conditions, rolloutId, variationId } = rule.definition
  const name = `The rule ${quote(id)}`
  const ofConditions = faultsOfConditions(rule.conditions, conditions, extensions)
  return [
    ...ofConditions.map((fault) => `${name} has a condition that never holds. ${fault}`),
    ...(rolloutId === null ? faultOfServing(servable, name, variationId) : faultsOfRollout(rule)),
  ]
}

/**
 * Returns a function that returns the faults of the rollout that a rule uses. The faults are
 * cached, because many rules can use the same rollout.
 */
function rolloutFaults(
  flag: CompiledFlag,
  { servable, extensions }: FlagSurroundings,
): (rule: CompiledRule) => readonly string[] {
  const known = new Map<CompiledRollout, readonly string[]>()
  return (rule) => {
    const { serve, definition } = rule
    if (serve.kind !== 'rollout') return faultsOfBroken(flag, rule, extensions)
    const { gradual, ranges } = serve.rollout
    const name = `The rollout ${quote(definition.rolloutId)}`
    return getOrMake(known, serve.rollout, () => {
      const served = gradual === undefined ? ranges : [gradual]
      return served.flatMap(({ variationId }) => faultOfServing(servable, name, variationId))
    })
  }
}

function faultsOfBroken(
  flag: CompiledFlag,
  { definition: { id, rolloutId } }: CompiledRule,
  extensions: Extensions,
): readonly string[] {
  const definition = flag.definition.rollouts.filter((each) => each.id === rolloutId).at(-1)
  if (definition === undefined) {
    return [`The rule ${quote(id)} refers to the missing rollout ${quote(rolloutId)}.`]
  }
  const { fault } = compileRollout(definition, extensions)
  const why = fault === undefined ? '' : rolloutFault(fault, definition.scheme)
  return [`The rollout ${quote(rolloutId)} is invalid. ${why}`]
}

const ROLLOUT_FAULTS: Readonly<Record<Exclude<RolloutFault, 'scheme'>, string>> = {
  start: 'The start of a gradual rollout must be an RFC 3339 timestamp with a time zone.',
  interval: 'The interval of a gradual rollout must be a positive number of hours.',
  increment: 'The increment of a gradual rollout must be at least 0.001 percent.',
  target: 'The target of a gradual rollout must be from 0 to 100 percent.',
  weight: `The total weight must be an integer from 1 to ${BUCKETS}.`,
  range: `A range must have two integers from 0 to ${BUCKETS}, the lower one first.`,
  overlap: 'Ranges must not overlap.',
}

function rolloutFault(fault: RolloutFault, scheme: string): string {
  if (fault !== 'scheme') return ROLLOUT_FAULTS[fault]
  return `The bucketing scheme ${quote(scheme)} is not available.`
}
