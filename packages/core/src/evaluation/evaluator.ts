import { findContextKey, type Parts, partsOf, readBucketingKey } from '../model/attribute.ts'
import { type EvaluationContext, isEmptyContext } from '../model/context.ts'
import type { ConditionScope } from '../operators/condition.ts'
import { bucketFor, type CompiledRollout, placeIn, rangeNumber } from '../rollouts/rollout.ts'
import type { EvaluationDetail } from './detail.ts'
import type { CompiledFlag, FlagParts } from './flag.ts'
import type { Outcome } from './outcome.ts'
import { type CompiledRule, matchesRule, type Serve } from './rule.ts'
import { type CompiledSegment, matchesSegment } from './segment.ts'
import { detailOf, type EvaluationStep } from './trace.ts'

/** The part of a flag set that an evaluator reads. */
export interface EvaluatedFlags {
  /** The flags that conditions can refer to, by key. */
  readonly flagsByKey: ReadonlyMap<string, CompiledFlag>
  /** The flags that prerequisites can refer to, by id. */
  readonly flagsById: ReadonlyMap<string, CompiledFlag>
  /** The segments by id. */
  readonly segments: ReadonlyMap<string, CompiledSegment>
  /** The keys of the active flags that cannot be evaluated. `NONE_MALFORMED` if there are none. */
  readonly malformed: ReadonlySet<string>
}

/**
 * The empty set of malformed flags. A comparison with this object is faster than a lookup in it.
 */
export const NONE_MALFORMED: ReadonlySet<string> = new Set()

/** The steps of the evaluation of one flag, without the steps of the flags that it depends on. */
type Trace = EvaluationStep[]

/** Results that an evaluation needs several times. */
interface Results {
  /** The outcomes of the flags that conditions and prerequisites refer to. */
  outcomes: Map<CompiledFlag, Outcome> | undefined
  /** The results of the segments, by id. */
  segments: Map<string, boolean> | undefined
  parts: Parts | undefined
}

function newResults(): Results {
  return { outcomes: undefined, segments: undefined, parts: undefined }
}

/**
 * Evaluates flags for one context at one point in time (epoch milliseconds). The loops use indexes,
 * because iterators would slow down the evaluation of simple flags.
 */
export class Evaluator implements ConditionScope {
  readonly context: EvaluationContext
  readonly #flagSet: EvaluatedFlags
  /** The time of the evaluation, in epoch milliseconds. */
  readonly now: number
  #results: Results | undefined

  constructor(flagSet: EvaluatedFlags, context: EvaluationContext, now: number) {
    this.#flagSet = flagSet
    // Callers without type checks can pass `undefined` or `null`.
    this.context = context ?? {}
    this.now = now
  }

  /** The kinds of the context, which are found once. */
  get parts(): Parts | undefined {
    if (this.context.kind !== 'multi') return undefined
    this.#results ??= newResults()
    this.#results.parts ??= partsOf(this.context)
    return this.#results.parts
  }

  /** Evaluates a flag and returns its outcome. Adds each step to `trace` if it is passed. */
  evaluate(flag: CompiledFlag, trace?: Trace): Outcome {
    if (!flag.isActive) {
      trace?.push({ kind: 'flag', state: 'inactive' })
      return flag.disabled
    }
    const { malformed } = this.#flagSet
    if (malformed !== NONE_MALFORMED && malformed.has(flag.key)) {
      trace?.push({ kind: 'flag', state: 'malformed' })
      return flag.malformed
    }
    // The recursion from here on terminates, because a flag that depends on itself is malformed.
    trace?.push({ kind: 'flag', state: 'active' })
    // Reading the parts one time is faster than reading each of them from the flag.
    const { parts } = flag
    if (this.#hasUnmetPrerequisite(parts, trace)) return flag.unmet
    if (isEmptyContext(this.context)) {
      trace?.push({ kind: 'empty context' })
      return parts.fallback
    }
    return this.#findTarget(parts, trace) ?? this.#followRules(parts, trace) ?? parts.fallback
  }

  /** Evaluates a flag and returns its detail. */
  detail(flag: CompiledFlag): EvaluationDetail {
    const trace: Trace = []
    return detailOf(flag, this.evaluate(flag, trace), trace)
  }

  servedVariation(flagKey: string): string | undefined {
    return this.#outcomeOf(this.#flagSet.flagsByKey.get(flagKey))?.variation?.key
  }

  isInSegment(segmentId: string): boolean {
    const known = this.#results?.segments?.get(segmentId)
    if (known !== undefined) return known
    const segment = this.#flagSet.segments.get(segmentId)
    if (segment === undefined) return false
    const isIn = matchesSegment(segment, this)
    // The evaluation of a segment without conditions is as fast as a lookup in the map.
    if (segment.conditions.length === 0) return isIn
    this.#results ??= newResults()
    this.#results.segments ??= new Map()
    this.#results.segments.set(segmentId, isIn)
    return isIn
  }

  /**
   * Returns the outcome of a rule that matches, or `undefined` if the rule does not serve the
   * context.
   */
  follow(serve: Serve): Outcome | undefined {
    switch (serve.kind) {
      case 'variation':
      case 'broken':
        return serve.outcome
      case 'rollout':
        return serve.outcomes[this.#rangeNumber(serve.rollout)]
      case 'nothing':
        return undefined
    }
  }

  #hasUnmetPrerequisite({ prerequisites }: FlagParts, trace?: Trace): boolean {
    for (let at = 0; at < prerequisites.length; at += 1) {
      const prerequisite = prerequisites[at]
      if (prerequisite === undefined) continue
      const flag = this.#flagSet.flagsById.get(prerequisite.flagId)
      const outcome = this.#outcomeOf(flag)
      const variation = outcome?.variation
      const isMet = variation !== undefined && prerequisite.variationIds.has(variation.id)
      trace?.push({ kind: 'prerequisite', flag, outcome, isMet })
      if (!isMet) return true
    }
    return false
  }

  #findTarget({ targets }: FlagParts, trace?: Trace): Outcome | undefined {
    for (let at = 0; at < targets.length; at += 1) {
      const target = targets[at]
      if (target === undefined) continue
      const key = findContextKey(this.context, target.kind)
      const isMatch = key !== undefined && target.keys.has(key)
      trace?.push({ kind: 'target', target, key, isMatch })
      if (isMatch) return target.outcome
    }
    return undefined
  }

  #followRules({ rules }: FlagParts, trace?: Trace): Outcome | undefined {
    for (let at = 0; at < rules.length; at += 1) {
      const rule = rules[at]
      if (rule === undefined) continue
      const isMatch = matchesRule(rule, this)
      let outcome: Outcome | undefined
      if (trace !== undefined) outcome = this.#followTraced(rule, isMatch, trace)
      else if (isMatch) outcome = this.follow(rule.serve)
      if (outcome !== undefined) return outcome
    }
    return undefined
  }

  /**
   * Returns the outcome of another flag for this context, or `undefined` if `flag` is `undefined`.
   */
  #outcomeOf(flag: CompiledFlag | undefined): Outcome | undefined {
    if (flag === undefined) return undefined
    const known = this.#results?.outcomes?.get(flag)
    if (known !== undefined) return known
    const outcome = this.evaluate(flag)
    this.#results ??= newResults()
    this.#results.outcomes ??= new Map()
    this.#results.outcomes.set(flag, outcome)
    return outcome
  }

  /**
   * Returns the index of the range that contains the context's bucket. Returns -1 if no range
   * contains the bucket, or if the context has no bucketing key.
   */
  #rangeNumber(rollout: CompiledRollout): number {
    const key = readBucketingKey(this.context, rollout.bucketBy, this.parts)
    return key === undefined ? -1 : rangeNumber(rollout, bucketFor(rollout, key), this.now)
  }

  /** Returns the outcome of a rule, if it matches, and adds the step to `trace`. */
  #followTraced(rule: CompiledRule, isMatch: boolean, trace: Trace): Outcome | undefined {
    const { serve } = rule
    if (!isMatch || serve.kind !== 'rollout') {
      trace.push({ kind: 'rule', rule, isMatch, rollout: undefined })
      return isMatch ? this.follow(serve) : undefined
    }
    const { rollout, outcomes } = serve
    const placement = placeIn(rollout, this.context, this.now)
    trace.push({ kind: 'rule', rule, isMatch, rollout: { rollout, placement } })
    return placement && outcomes[placement.number]
  }
}
