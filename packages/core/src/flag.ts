import { compareCodePoints } from './code-point.ts'
import type { FlagDefinition, VariationDefinition } from './definition.ts'
import type { Explanation } from './detail.ts'
import { isFlagError } from './errors.ts'
import { findFlagIssues } from './flag-issues.ts'
import type { Ramp } from './ramp.ts'
import { compileRollout } from './rollout.ts'
import { type CompiledRule, compileRule } from './rule.ts'
import { type FlagValue, parseFlagValue } from './value.ts'

/**
 * A flag made ready for evaluation. It holds nothing of other flags or of segments, only their
 * names, and so stays good for as long as its own definition does. Made by `compileFlag`.
 */
export interface CompiledFlag {
  readonly definition: FlagDefinition
  readonly key: string
  /** In the definition's order. */
  readonly variations: readonly CompiledVariation[]
  /** Those whose value could be read, by id. */
  readonly servable: ReadonlyMap<string, CompiledVariation>
  readonly targets: readonly CompiledTarget[]
  readonly prerequisites: readonly CompiledPrerequisite[]
  /** In the order in which they are tried. */
  readonly rules: readonly CompiledRule[]
  /** The schedules by which the flag's answers change with time. */
  readonly ramps: readonly Ramp[]
  /** The answer when nothing matches. */
  readonly fallback: Outcome
  readonly disabled: Outcome
  /** The answer while something that the flag depends on cannot be resolved. */
  readonly malformed: Outcome
  /** The JSON text `"flag key":null`, for an answer without a variation. */
  readonly nullMember: string
  /** What is wrong with the definition itself, as sentences. */
  readonly issues: readonly string[]
}

export interface CompiledVariation {
  /** Its position among the flag's variations. */
  readonly index: number
  readonly id: string
  readonly key: string
  /** Deeply frozen. */
  readonly value: FlagValue
  /** The JSON text `"flag key":value`. */
  readonly member: string
  /** Why the value could not be read; such a variation is never served. */
  readonly fault: string | undefined
}

export interface CompiledTarget {
  readonly kind: string
  readonly keys: ReadonlySet<string>
  readonly variationId: string
}

export interface CompiledPrerequisite {
  readonly flagId: string
  readonly variationIds: ReadonlySet<string>
}

/** What one flag evaluated to. */
export interface Outcome {
  /** undefined: there is nothing to serve, and the value is null. */
  readonly variation: CompiledVariation | undefined
  readonly explanation: Explanation
}

type Servable = Pick<CompiledFlag, 'definition' | 'servable'>

/** Serves a variation, or the default with reason `ERROR` when that variation cannot be served. */
export function serve(flag: Servable, variationId: string, explanation: Explanation): Outcome {
  const variation = flag.servable.get(variationId)
  return variation === undefined ? fail(flag, explanation) : { variation, explanation }
}

/** Serves the off variation, or the default while the flag has none. */
export function serveOff(flag: Servable, explanation: Explanation): Outcome {
  const { offVariationId, defaultVariationId } = flag.definition
  return serve(flag, offVariationId ?? defaultVariationId, explanation)
}

/** Serves the default because the flag is broken; what is known of the attempt is kept. */
export function fail(flag: Servable, attempt: Partial<Explanation>): Outcome {
  return {
    variation: flag.servable.get(flag.definition.defaultVariationId),
    explanation: { ...attempt, reason: 'ERROR', errorCode: 'MALFORMED_FLAG' },
  }
}

/** Prepares a flag. Throws only when the definition does not even have the declared shape. */
export function compileFlag(definition: FlagDefinition): CompiledFlag {
  const variations = compileVariations(definition)
  const readable = variations.filter(({ fault }) => fault === undefined)
  const servable = new Map(readable.map((variation) => [variation.id, variation]))
  const rollouts = new Map(definition.rollouts.map((each) => [each.id, compileRollout(each)]))
  const rules = definition.rules.map((rule) => compileRule(rule, rollouts)).sort(compareRules)
  const flag = { definition, servable, variations, rules }
  return {
    ...flag,
    key: definition.key,
    targets: definition.targets.map((target) => ({ ...target, keys: new Set(target.keys) })),
    prerequisites: definition.prerequisites.map(({ flagId, variationIds }) => {
      return { flagId, variationIds: new Set(variationIds) }
    }),
    ramps: rules.flatMap(({ serve }) => (serve.kind === 'rollout' && serve.rollout.ramp) || []),
    fallback: serve(flag, definition.defaultVariationId, {
      reason: isStatic(definition) ? 'STATIC' : 'DEFAULT',
    }),
    disabled: serveOff(flag, { reason: 'DISABLED' }),
    malformed: fail(flag, {}),
    nullMember: memberOf(definition, null),
    issues: findFlagIssues(flag, rollouts),
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

function compileVariations(definition: FlagDefinition): CompiledVariation[] {
  return definition.variations.map((variation, index) => {
    const { value, fault } = readValue(definition, variation)
    const { id, key } = variation
    return { index, id, key, value, fault, member: memberOf(definition, value) }
  })
}

function readValue(
  { type }: FlagDefinition,
  { value }: VariationDefinition,
): Pick<CompiledVariation, 'value' | 'fault'> {
  try {
    return { value: parseFlagValue(type, value), fault: undefined }
  } catch (error) {
    if (!isFlagError(error)) throw error
    return { value: null, fault: error.message }
  }
}

function memberOf({ key }: FlagDefinition, value: FlagValue): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`
}
