import { findContextKey, readBucketingKey } from '../model/attribute.ts'
import { type EvaluationContext, isEmptyContext } from '../model/context.ts'
import type { ConditionScope } from '../operators/condition.ts'
import {
  bucketFor,
  type CompiledRollout,
  findRange,
  placeIn,
  rangeNumber,
} from '../rollouts/rollout.ts'
import type { EvaluationDetail } from './detail.ts'
import type { CompiledFlag } from './flag.ts'
import type { Outcome } from './outcome.ts'
import { type CompiledRule, matchesRule } from './rule.ts'
import { type CompiledSegment, matchesSegment } from './segment.ts'

/** The facts about one evaluation that depend on the context. */
interface EvaluationTrace {
  bucket?: number
  range?: { readonly from: number; readonly to: number }
  prerequisiteKey?: string
  /** A rollout was skipped because the context has no bucketing key for it. */
  isSkipped?: true
}

/** What an evaluator reads of a flag set. */
export interface EvaluatedFlags {
  /** The flags that conditions and prerequisites refer to. */
  readonly flagsByKey: ReadonlyMap<string, CompiledFlag>
  readonly flagsById: ReadonlyMap<string, CompiledFlag>
  /** By id. */
  readonly segments: ReadonlyMap<string, CompiledSegment>
  /** The keys of the active flags that cannot be evaluated. */
  readonly malformed: ReadonlySet<string>
}

const EMPTY: EvaluationContext = {}

/**
 * Evaluates flags for one context at one point in time and, after another `begin`, for the next.
 * Loops count through lists, because iterators would take a third of the time of a simple flag.
 */
export class Evaluator implements ConditionScope {
  readonly #flagSet: EvaluatedFlags
  /** `undefined` if no flag is: a look into an empty set costs as much as one into a full set. */
  readonly #malformed: ReadonlySet<string> | undefined
  #context = EMPTY
  #now = 0
  /** Entries of other turns are no longer valid. */
  #turn = 0
  /** The outcomes of flags and segments that others depend on. */
  readonly #outcomes = new TurnMap<CompiledFlag, Outcome>()
  readonly #segments = new TurnMap<string, boolean>()

  constructor(flagSet: EvaluatedFlags) {
    this.#flagSet = flagSet
    this.#malformed = flagSet.malformed.size === 0 ? undefined : flagSet.malformed
  }

  get context(): EvaluationContext {
    return this.#context
  }

  begin(context: EvaluationContext, now: number): void {
    // Against its type, the context may be missing.
    this.#context = context ?? EMPTY
    this.#now = now
  }

  /** Forgets the context and all outcomes for it. */
  end(): void {
    this.#context = EMPTY
    this.#turn += 1
  }

  evaluate(flag: CompiledFlag, trace?: EvaluationTrace): Outcome {
    if (!flag.isActive) return flag.disabled
    // From here on no flag or segment depends on itself.
    if (this.#malformed?.has(flag.key) === true) return flag.malformed
    if (this.#hasUnmetPrerequisite(flag, trace)) return flag.unmet
    if (isEmptyContext(this.#context)) return flag.fallback
    return this.#findTarget(flag) ?? this.#followRules(flag, trace) ?? flag.fallback
  }

  detail(flag: CompiledFlag): EvaluationDetail {
    const trace: EvaluationTrace = {}
    const { variation, explanation } = this.evaluate(flag, trace)
    const { isSkipped, ...others } = trace
    const { errorCode = 'TARGETING_KEY_MISSING' } = explanation
    return {
      flagKey: flag.key,
      value: variation?.value ?? null,
      variationId: variation?.id ?? null,
      variationKey: variation?.key ?? null,
      ...explanation,
      ...others,
      ...(isSkipped && { errorCode }),
    }
  }

  servedVariation(flagKey: string): string | undefined {
    return this.#outcomeOf(this.#flagSet.flagsByKey.get(flagKey))?.variation?.key
  }

  isInSegment(segmentId: string): boolean {
    const known = this.#segments.get(segmentId, this.#turn)
    if (known !== undefined) return known
    const segment = this.#flagSet.segments.get(segmentId)
    const isIn = segment !== undefined && matchesSegment(segment, this)
    this.#segments.set(segmentId, isIn, this.#turn)
    return isIn
  }

  serveRule({ serve }: CompiledRule, trace?: EvaluationTrace): Outcome | undefined {
    switch (serve.kind) {
      case 'variation':
      case 'broken':
        return serve.outcome
      case 'rollout':
        if (trace !== undefined) this.#notePlace(serve.rollout, trace)
        return serve.outcomes[this.#rangeNumber(serve.rollout)]
      case 'nothing':
        return undefined
    }
  }

  #hasUnmetPrerequisite({ prerequisites }: CompiledFlag, trace?: EvaluationTrace): boolean {
    for (let at = 0; at < prerequisites.length; at += 1) {
      const prerequisite = prerequisites[at]
      if (prerequisite === undefined) continue
      const flag = this.#flagSet.flagsById.get(prerequisite.flagId)
      const variation = this.#outcomeOf(flag)?.variation
      if (variation !== undefined && prerequisite.variationIds.has(variation.id)) continue
      if (trace !== undefined && flag !== undefined) {
        trace.prerequisiteKey = flag.key
      }
      return true
    }
    return false
  }

  #findTarget({ targets }: CompiledFlag): Outcome | undefined {
    for (let at = 0; at < targets.length; at += 1) {
      const target = targets[at]
      const key = target && findContextKey(this.#context, target.kind)
      if (key !== undefined && target?.keys.has(key)) return target.outcome
    }
    return undefined
  }

  #followRules({ rules }: CompiledFlag, trace?: EvaluationTrace): Outcome | undefined {
    for (let at = 0; at < rules.length; at += 1) {
      const rule = rules[at]
      if (rule === undefined || !matchesRule(rule, this)) continue
      const outcome = this.serveRule(rule, trace)
      if (outcome !== undefined) return outcome
    }
    return undefined
  }

  /** The outcome of another flag for this context. */
  #outcomeOf(flag: CompiledFlag | undefined): Outcome | undefined {
    if (flag === undefined) return undefined
    const known = this.#outcomes.get(flag, this.#turn)
    if (known !== undefined) return known
    const outcome = this.evaluate(flag)
    this.#outcomes.set(flag, outcome, this.#turn)
    return outcome
  }

  /** The number of the range that the context is in; -1 if there is none or the bucketing key is missing. */
  #rangeNumber(rollout: CompiledRollout): number {
    const key = readBucketingKey(this.#context, rollout.bucketBy)
    if (key === undefined) return -1
    const bucket = bucketFor(rollout, key)
    // Passing the time on makes garbage unless the call is inlined.
    return rollout.gradual === undefined
      ? findRange(rollout.ranges, bucket)
      : rangeNumber(rollout, bucket, this.#now)
  }

  #notePlace(rollout: CompiledRollout, trace: EvaluationTrace): void {
    const placement = placeIn(rollout, this.#context, this.#now)
    if (placement === undefined) trace.isSkipped = true
    else if (placement.range !== undefined) {
      const { from, to } = placement.range
      trace.bucket = placement.bucket
      trace.range = { from, to }
    }
  }
}

/** A map whose entries are valid for one turn only. They expire without removal, which makes no garbage. */
class TurnMap<Key, Value> {
  readonly #entries = new Map<Key, { turn: number; value: Value }>()

  get(key: Key, turn: number): Value | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.turn === turn ? entry.value : undefined
  }

  set(key: Key, value: Value, turn: number): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) this.#entries.set(key, { turn, value })
    else {
      entry.turn = turn
      entry.value = value
    }
  }
}
