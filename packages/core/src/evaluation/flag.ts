import type { FlagDefinition, TargetDefinition, VariationDefinition } from '../model/definition.ts'
import { isFlagError } from '../model/errors.ts'
import type { Extensions } from '../model/extensions.ts'
import { getOrMake } from '../model/get-or-make.ts'
import { type Incremental, MadeOnDemand, Pace, runToEnd } from '../model/incremental.ts'
import { elementsOf } from '../model/json.ts'
import { type FlagValue, parseFlagValue } from '../model/value.ts'
import type { ConditionCompiler } from '../operators/condition.ts'
import type { GradualRollout } from '../rollouts/gradual-rollout.ts'
import { compileRollout, scheduleOf } from '../rollouts/rollout.ts'
import { hasFlagShape } from './declared-shape.ts'
import type { Explanation } from './detail.ts'
import { type CompiledVariation, type Outcome, type Servable, serve, serveOr } from './outcome.ts'
import { compareRules, type References, referencesOfFlag } from './references.ts'
import { type CompiledRule, compileRule } from './rule.ts'

/** The parts of a flag that are compiled when they are first needed. */
export interface FlagParts {
  /** The variations in the order of the definition. */
  readonly variations: readonly CompiledVariation[]
  readonly targets: readonly CompiledTarget[]
  readonly prerequisites: readonly CompiledPrerequisite[]
  /** The rules in the order of their evaluation. */
  readonly rules: readonly CompiledRule[]
  /** The outcome if no target and no rule matches. */
  readonly fallback: Outcome
  /** The variation while the flag is switched off. `undefined` if it cannot be served. */
  readonly off: CompiledVariation | undefined
  /**
   * The values, indexed by the result of `servedBy`. Index 0 is `null`, for no variation. The
   * values of `variations` follow in their order.
   */
  readonly values: readonly FlagValue[]
}

/**
 * A flag that is compiled when it is first evaluated. It refers to other flags and segments by key
 * or id only, so that it can be reused until its own definition changes.
 */
export class CompiledFlag extends MadeOnDemand<FlagParts> implements FlagParts {
  readonly definition: FlagDefinition
  readonly key: string
  readonly isActive: boolean
  readonly references: References
  /** The schedules of all gradual rollouts that rules use. */
  readonly gradualRollouts: readonly GradualRollout[]
  #members: readonly string[] | undefined

  /** Throws only if the definition does not have the declared type. */
  constructor(definition: FlagDefinition, compiler: ConditionCompiler) {
    super((pace) => compileParts(definition, compiler, pace))
    this.definition = definition
    this.key = definition.key
    this.isActive = definition.isActive
    if (!hasFlagShape(definition)) runToEnd(this.prepare(new Pace()))
    this.references = referencesOfFlag(definition, compiler)
    this.gradualRollouts = gradualRolloutsOf(definition, compiler.extensions)
  }

  get variations() {
    return this.parts.variations
  }

  get targets() {
    return this.parts.targets
  }

  get prerequisites() {
    return this.parts.prerequisites
  }

  get rules() {
    return this.parts.rules
  }

  get fallback() {
    return this.parts.fallback
  }

  get off() {
    return this.parts.off
  }

  /** The outcome while the flag is inactive. */
  get disabled() {
    return this.#switchedOff(DISABLED)
  }

  /** The outcome while a prerequisite is not met. */
  get unmet() {
    return this.#switchedOff(DEFAULT)
  }

  /** The outcome while a dependency of the flag cannot be resolved. */
  get malformed() {
    return serveOr(this.fallback.variation)
  }

  get values() {
    return this.parts.values
  }

  #switchedOff(explanation: Explanation): Outcome {
    const { off, fallback } = this.parts
    return serveOr(fallback.variation, off, explanation)
  }

  /** The JSON text `,"flag key":value` of each of `values`. */
  get members(): readonly string[] {
    this.#members ??= this.values.map((value) => {
      return `,${JSON.stringify(this.key)}:${JSON.stringify(value)}`
    })
    return this.#members
  }
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

const NONE: readonly never[] = []

/**
 * Returns the schedules of the gradual rollouts that the rules of a flag use. Throws if a schedule
 * does not have the declared type.
 */
function gradualRolloutsOf({ rules, rollouts }: FlagDefinition, extensions: Extensions) {
  if (!rollouts.some(({ strategy }) => strategy === 'gradual')) return NONE
  const schedules = new Map(
    rollouts.map((each) => {
      return [each.id, each.strategy === 'gradual' ? scheduleOf(each, extensions) : undefined]
    }),
  )
  return rules.flatMap(({ rolloutId }) => {
    return (rolloutId === null ? undefined : schedules.get(rolloutId)) ?? []
  })
}

function compileRollouts({ rollouts }: FlagDefinition, extensions: Extensions) {
  const compiled = elementsOf(rollouts).map((each) => compileRollout(each, extensions))
  return new Map(compiled.map((rollout) => [rollout.id, rollout]))
}

/** The work of the compilation of a flag without rules. */
const FLAG_WORK = 256

function* compileParts(
  definition: FlagDefinition,
  compiler: ConditionCompiler,
  pace: Pace,
): Incremental<FlagParts> {
  const { defaultVariationId, offVariationId, prerequisites } = definition
  if (pace.add(FLAG_WORK)) yield
  const variations = elementsOf(definition.variations).map((each, index) => {
    return compileVariation(definition, each, index)
  })
  const readable = variations.filter(({ fault }) => fault === undefined)
  const servable = new Map(readable.map((variation) => [variation.id, variation]))
  const flag: Servable = { servable, defaultVariationId }
  const rollouts = compileRollouts(definition, compiler.extensions)
  const rules: CompiledRule[] = []
  for (const rule of elementsOf(definition.rules).slice().sort(compareRules)) {
    rules.push(yield* compileRule(rule, { flag, rollouts, compiler }, pace))
  }
  const targets = yield* compileTargets(flag, definition.targets, pace)
  // The copy has no room for more elements.
  const values = [null, ...variations.map(({ value }) => value)].slice()
  // A literal without spread, so that the parts of all flags have the same hidden class.
  return {
    variations,
    targets,
    prerequisites: elementsOf(prerequisites).map(({ flagId, variationIds }) => {
      return { flagId, variationIds: new Set(variationIds) }
    }),
    rules: rules.slice(),
    fallback: serve(flag, defaultVariationId, isStatic(definition) ? STATIC : DEFAULT),
    off: servable.get(offVariationId ?? defaultVariationId),
    values,
  }
}

/** The explanations without details, which the outcomes of all flags share. */
const STATIC: Explanation = Object.freeze({ reason: 'STATIC' })
const DEFAULT: Explanation = Object.freeze({ reason: 'DEFAULT' })
const DISABLED: Explanation = Object.freeze({ reason: 'DISABLED' })
const TARGETED: Explanation = Object.freeze({ reason: 'TARGETING_MATCH' })

function isStatic({ targets, rules, prerequisites }: FlagDefinition): boolean {
  return targets.length === 0 && rules.length === 0 && prerequisites.length === 0
}

/** Compiles targets. A target with a kind that is not text is omitted, because it never matches. */
function* compileTargets(
  flag: Servable,
  targets: readonly TargetDefinition[],
  pace: Pace,
): Incremental<readonly CompiledTarget[]> {
  const compiled: CompiledTarget[] = []
  const outcomes = new Map<string, Outcome>()
  for (const { kind, keys, variationId } of elementsOf(targets)) {
    if (typeof kind !== 'string') continue
    const outcome = getOrMake(outcomes, variationId, () => serve(flag, variationId, TARGETED))
    const target = { kind, keys: new Set(keys), variationId, outcome }
    compiled.push(target)
    if (pace.add(target.keys.size)) yield
  }
  return compiled.slice()
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
