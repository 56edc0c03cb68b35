import { compareCodePoints } from '../model/code-point.ts'
import type {
  ConditionDefinition,
  FlagDefinition,
  TargetDefinition,
  VariationDefinition,
} from '../model/definition.ts'
import { isFlagError } from '../model/errors.ts'
import type { Extensions } from '../model/extensions.ts'
import type { Incremental } from '../model/incremental.ts'
import { elementsOf } from '../model/json.ts'
import { type FlagValue, parseFlagValue } from '../model/value.ts'
import type { CompiledCondition } from '../operators/condition.ts'
import type { GradualRollout } from '../rollouts/gradual-rollout.ts'
import { compileRollout } from '../rollouts/rollout.ts'
import type { Explanation } from './detail.ts'
import { type CompiledVariation, fail, type Outcome, type Servable, serve } from './outcome.ts'
import { type References, referencesOfFlag } from './references.ts'
import { type CompiledRule, compileRule } from './rule.ts'

/**
 * A flag that is prepared for evaluation. Created by `compileFlag`. It refers to other flags and
 * segments by key or id only, so that it can be reused until its own definition changes.
 */
export interface CompiledFlag extends Servable {
  readonly definition: FlagDefinition
  readonly key: string
  readonly isActive: boolean
  /** The variations in the order of the definition. */
  readonly variations: readonly CompiledVariation[]
  readonly targets: readonly CompiledTarget[]
  readonly prerequisites: readonly CompiledPrerequisite[]
  /** The rules in the order of their evaluation. */
  readonly rules: readonly CompiledRule[]
  readonly references: References
  /** The schedules of all gradual rollouts that rules use. */
  readonly gradualRollouts: readonly GradualRollout[]
  /** The outcome if no target and no rule matches. */
  readonly fallback: Outcome
  /** The outcome while the flag is inactive. */
  readonly disabled: Outcome
  /** The outcome while a prerequisite is not met. */
  readonly unmet: Outcome
  /** The outcome while a dependency of the flag cannot be resolved. */
  readonly malformed: Outcome
  /**
   * The values, indexed by the result of `servedBy`. Index 0 is `null`, for no variation. The
   * values of `variations` follow in their order.
   */
  readonly values: readonly FlagValue[]
  /** The JSON text `,"flag key":value` of each of `values`. */
  readonly members: readonly string[]
}

/** A target that is prepared for evaluation. */
export interface CompiledTarget {
  readonly kind: string
  readonly keys: ReadonlySet<string>
  readonly variationId: string
  readonly outcome: Outcome
}

/** A prerequisite that is prepared for evaluation. */
export interface CompiledPrerequisite {
  readonly flagId: string
  readonly variationIds: ReadonlySet<string>
}

type CompileCondition = (definition: ConditionDefinition) => CompiledCondition

/** The number of rules that are compiled without interruption. */
const RULES_PER_CHUNK = 32

/** Compiles a flag incrementally. Throws only if the definition does not have the declared type. */
export function* compileFlag(
  definition: FlagDefinition,
  extensions: Extensions,
  compileCondition: CompileCondition,
): Incremental<CompiledFlag> {
  const { key, isActive, defaultVariationId, targets, prerequisites } = definition
  const variations = elementsOf(definition.variations).map((each, index) => {
    return compileVariation(definition, each, index)
  })
  const readable = variations.filter(({ fault }) => fault === undefined)
  const servable = new Map(readable.map((variation) => [variation.id, variation]))
  const compiled = elementsOf(definition.rollouts).map((each) => compileRollout(each, extensions))
  const rollouts = new Map(compiled.map((rollout) => [rollout.id, rollout]))
  const flag: Servable = { servable, defaultVariationId }
  const rules: CompiledRule[] = []
  for (const rule of elementsOf(definition.rules)) {
    rules.push(compileRule(rule, { flag, rollouts, compileCondition }))
    if (rules.length % RULES_PER_CHUNK === 0) yield
  }
  rules.sort(compareRules)
  const isLarge = rules.length + variations.length + targets.length > RULES_PER_CHUNK
  if (isLarge) yield
  const references = referencesOfFlag(definition, rules.flatMap(conditionsOf))
  const compiledTargets = compileTargets(flag, targets)
  if (isLarge) yield
  const values = [null, ...variations.map(({ value }) => value)]
  const { fallback, disabled, unmet, malformed } = constantOutcomes(flag, definition)
  // A literal without spread, so that all flags have the same hidden class.
  return {
    definition,
    key,
    isActive,
    defaultVariationId,
    variations,
    servable,
    targets: compiledTargets,
    prerequisites: elementsOf(prerequisites).map(({ flagId, variationIds }) => {
      return { flagId, variationIds: new Set(variationIds) }
    }),
    rules,
    references,
    gradualRollouts: rules.flatMap(gradualRolloutOf),
    fallback,
    disabled,
    unmet,
    malformed,
    values,
    members: values.map((value) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`),
  }
}

function conditionsOf({ conditions }: CompiledRule): readonly CompiledCondition[] {
  return conditions
}

function gradualRolloutOf({ serve }: CompiledRule): GradualRollout | [] {
  return (serve.kind === 'rollout' && serve.rollout.gradual) || []
}

/** Returns the outcomes that do not depend on the context. */
function constantOutcomes(flag: Servable, definition: FlagDefinition) {
  const { defaultVariationId, offVariationId } = definition
  const serveOff = (explanation: Explanation) => {
    return serve(flag, offVariationId ?? defaultVariationId, explanation)
  }
  const reason = isStatic(definition) ? 'STATIC' : 'DEFAULT'
  return {
    fallback: serve(flag, defaultVariationId, { reason }),
    disabled: serveOff({ reason: 'DISABLED' }),
    unmet: serveOff({ reason: 'DEFAULT' }),
    malformed: fail(flag, {}),
  }
}

function isStatic({ targets, rules, prerequisites }: FlagDefinition): boolean {
  return targets.length === 0 && rules.length === 0 && prerequisites.length === 0
}

function compareRules({ definition: a }: CompiledRule, { definition: b }: CompiledRule): number {
  return (
    a.orderIndex - b.orderIndex ||
    compareCodePoints(a.createdAt, b.createdAt) ||
    compareCodePoints(a.id, b.id)
  )
}

/** Compiles targets. A target with a kind that is not text is omitted, because it never matches. */
function compileTargets(flag: Servable, targets: readonly TargetDefinition[]) {
  const readable = elementsOf(targets).filter(({ kind }) => typeof kind === 'string')
  return readable.map(({ kind, keys, variationId }) => {
    const outcome = serve(flag, variationId, { reason: 'TARGETING_MATCH' })
    return { kind, keys: new Set(keys), variationId, outcome }
  })
}

function compileVariation(
  { type }: FlagDefinition,
  { id, key, value: text }: VariationDefinition,
  index: number,
): CompiledVariation {
  try {
    return { index, id, key, value: parseFlagValue(type, text), fault: undefined }
  } catch (error) {
    if (!isFlagError(error)) throw error
    return { index, id, key, value: null, fault: error.message }
  }
}
