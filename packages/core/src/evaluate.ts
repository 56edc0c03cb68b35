import { findContextKey } from './attribute.ts'
import { compareCodePoints } from './code-point.ts'
import type { ConditionScope } from './condition.ts'
import { type EvaluationContext, isEmptyContext } from './context.ts'
import type { EvaluationDetail, Explanation } from './detail.ts'
import { type CompiledFlag, fail, type Outcome, serve, serveOff } from './flag.ts'
import type { FlagSet } from './flag-set.ts'
import { type CompiledRollout, placeIn } from './rollout.ts'
import { type CompiledRule, matchesRule } from './rule.ts'
import { matchesSegment } from './segment.ts'
import type { FlagValues } from './value.ts'

/**
 * The answers for one context at one instant: `outcomes[i]` is that of `flags[i]`, in the order of
 * the flags' keys. Values, JSON text and details are views of it.
 */
export interface Evaluation {
  readonly flags: readonly CompiledFlag[]
  readonly outcomes: readonly Outcome[]
}

/** Evaluates one flag at `now` (epoch milliseconds). An unknown key is an `ERROR`, not an error. */
export function evaluateFlag(
  flagSet: FlagSet,
  flagKey: string,
  context: EvaluationContext,
  now: number,
): EvaluationDetail {
  const flag = flagSet.flags.get(flagKey)
  if (flag !== undefined) return detailOf(flag, new Evaluator(flagSet, context, now).answer(flag))
  const nothing = { value: null, variationId: null, variationKey: null }
  return { flagKey, ...nothing, reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND' }
}

/** Evaluates every flag at `now` (epoch milliseconds). */
export function evaluateAll(flagSet: FlagSet, context: EvaluationContext, now: number): Evaluation {
  return evaluateFlags(flagSet.ordered, new Evaluator(flagSet, context, now))
}

/** Evaluates the flags with these keys at `now` (epoch milliseconds); unknown keys are ignored. */
export function evaluateSome(
  flagSet: FlagSet,
  flagKeys: Iterable<string>,
  context: EvaluationContext,
  now: number,
): Evaluation {
  const flags: CompiledFlag[] = []
  for (const key of new Set(flagKeys)) {
    const flag = flagSet.flags.get(key)
    if (flag !== undefined) flags.push(flag)
  }
  flags.sort((left, right) => compareCodePoints(left.key, right.key))
  return evaluateFlags(flags, new Evaluator(flagSet, context, now))
}

function evaluateFlags(flags: readonly CompiledFlag[], evaluator: Evaluator): Evaluation {
  return { flags, outcomes: flags.map((flag) => evaluator.answer(flag)) }
}

/** Values by flag key, in an object without a prototype. */
export function valuesOf({ flags, outcomes }: Evaluation): FlagValues {
  const values: Record<string, FlagValues[string]> = Object.create(null)
  for (const [index, { key }] of flags.entries()) {
    values[key] = outcomes[index]?.variation?.value ?? null
  }
  return values
}

/** The JSON text of `valuesOf`, joined from pieces that were written when the flags were compiled. */
export function jsonOf({ flags, outcomes }: Evaluation): string {
  const members = flags.map(({ nullMember }, index) => {
    return outcomes[index]?.variation?.member ?? nullMember
  })
  return `{${members.join(',')}}`
}

/** What each flag evaluated to and why, in the order of the flags' keys. */
export function detailsOf({ flags, outcomes }: Evaluation): readonly EvaluationDetail[] {
  return flags.flatMap((flag, index) => {
    const outcome = outcomes[index]
    return outcome === undefined ? [] : detailOf(flag, outcome)
  })
}

function detailOf({ key }: CompiledFlag, { variation, explanation }: Outcome): EvaluationDetail {
  return {
    flagKey: key,
    value: variation?.value ?? null,
    variationId: variation?.id ?? null,
    variationKey: variation?.key ?? null,
    ...explanation,
  }
}

/** One context at one instant. Remembers what flags and segments ask of one another. */
class Evaluator implements ConditionScope {
  readonly context: EvaluationContext
  readonly #flagSet: FlagSet
  readonly #now: number
  readonly #asked = new Map<CompiledFlag, Outcome>()
  readonly #segments = new Map<string, boolean>()

  constructor(flagSet: FlagSet, context: EvaluationContext, now: number) {
    this.context = context
    this.#flagSet = flagSet
    this.#now = now
  }

  answer(flag: CompiledFlag): Outcome {
    return this.#asked.get(flag) ?? this.#evaluate(flag)
  }

  servedVariation(flagKey: string): string | undefined {
    return this.#ask(this.#flagSet.flags.get(flagKey))?.variation?.key
  }

  isInSegment(segmentId: string): boolean {
    const known = this.#segments.get(segmentId)
    if (known !== undefined) return known
    const segment = this.#flagSet.segments.get(segmentId)
    const isIn = segment !== undefined && matchesSegment(segment, this)
    this.#segments.set(segmentId, isIn)
    return isIn
  }

  #evaluate(flag: CompiledFlag): Outcome {
    if (!flag.definition.isActive) return flag.disabled
    // From here on no flag or segment can lead back to itself.
    if (this.#flagSet.malformed.has(flag.key)) return flag.malformed
    const prerequisiteKey = this.#findUnmetPrerequisite(flag)
    if (prerequisiteKey !== undefined) {
      return serveOff(flag, { reason: 'DEFAULT', prerequisiteKey })
    }
    if (isEmptyContext(this.context)) return flag.fallback
    return this.#findTarget(flag) ?? this.#followRules(flag)
  }

  #findUnmetPrerequisite({ prerequisites }: CompiledFlag): string | undefined {
    for (const { flagId, variationIds } of prerequisites) {
      const flag = this.#flagSet.flagsById.get(flagId)
      const variation = this.#ask(flag)?.variation
      if (variation === undefined || !variationIds.has(variation.id)) return flag?.key
    }
    return undefined
  }

  #findTarget(flag: CompiledFlag): Outcome | undefined {
    for (const { kind, keys, variationId } of flag.targets) {
      const key = findContextKey(this.context, kind)
      if (key !== undefined && keys.has(key)) {
        return serve(flag, variationId, { reason: 'TARGETING_MATCH' })
      }
    }
    return undefined
  }

  #followRules(flag: CompiledFlag): Outcome {
    let skipped = false
    for (const rule of flag.rules) {
      if (!matchesRule(rule, this)) continue
      const served = this.#serveRule(flag, rule)
      if (served === 'TARGETING_KEY_MISSING') skipped = true
      else if (served !== undefined) return skipped ? withSkipped(served) : served
    }
    return skipped ? withSkipped(flag.fallback) : flag.fallback
  }

  /** undefined: the rule serves nothing to this context. */
  #serveRule(
    flag: CompiledFlag,
    rule: CompiledRule,
  ): Outcome | 'TARGETING_KEY_MISSING' | undefined {
    switch (rule.serve.kind) {
      case 'variation':
        return serve(flag, rule.serve.variationId, rule.explanation)
      case 'rollout':
        return this.#serveRollout(flag, rule.serve.rollout, rule.explanation)
      case 'broken':
        return fail(flag, rule.explanation)
      case 'nothing':
        return undefined
    }
  }

  #serveRollout(
    flag: CompiledFlag,
    rollout: CompiledRollout,
    explanation: Explanation,
  ): Outcome | 'TARGETING_KEY_MISSING' | undefined {
    const placement = placeIn(rollout, this.context, this.#now)
    if (placement === undefined) return 'TARGETING_KEY_MISSING'
    const { bucket, range } = placement
    if (range === undefined) return undefined
    const { variationId, from, to } = range
    return serve(flag, variationId, { ...explanation, bucket, range: { from, to } })
  }

  /** What another flag serves to this context; remembered, for many may ask. */
  #ask(flag: CompiledFlag | undefined): Outcome | undefined {
    if (flag === undefined) return undefined
    const outcome = this.answer(flag)
    this.#asked.set(flag, outcome)
    return outcome
  }
}

/** Says that a rollout before this answer was skipped because the context has no key for it. */
function withSkipped({ variation, explanation }: Outcome): Outcome {
  const { errorCode = 'TARGETING_KEY_MISSING' } = explanation
  return { variation, explanation: { ...explanation, errorCode } }
}
