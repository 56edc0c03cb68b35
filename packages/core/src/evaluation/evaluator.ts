import type { RuleMatrixEvaluator, RuleScope } from '../batch/rule-matrix-evaluator.ts'
import { findContextKey, readBucketingKey } from '../model/attribute.ts'
import { type EvaluationContext, isEmptyContext } from '../model/context.ts'
import {
  bucketFor,
  type CompiledRollout,
  findRange,
  placeIn,
  rangeNumber,
} from '../rollouts/rollout.ts'
import type { EvaluationDetail } from './detail.ts'
import type { CompiledFlag } from './flag.ts'
import type { FlagSet } from './flag-set.ts'
import type { Outcome } from './outcome.ts'
import { type CompiledRule, matchesRule } from './rule.ts'
import { matchesSegment } from './segment.ts'

/** The facts about one evaluation that depend on the context. */
interface EvaluationTrace {
  bucket?: number
  range?: { readonly from: number; readonly to: number }
  prerequisiteKey?: string
  /** A rollout was passed over because the context has no key for it. */
  isSkipped?: true
}

const EMPTY: EvaluationContext = {}

/**
 * Answers for one context at one timestamp, and then, after another `begin`, for the next. It counts
 * through lists, for iterators would take a third of the time of a simple flag.
 */
export class Evaluator implements RuleScope {
  readonly #flagSet: FlagSet
  /** undefined: no flag is; to ask an empty set would cost as much as to ask a full one. */
  readonly #malformed: ReadonlySet<string> | undefined
  #context = EMPTY
  #now = 0
  /** What was found out in another turn holds no more. */
  #turn = 0
  /** What flags and segments have been asked, for many may ask the same. */
  readonly #asked = new Memory<CompiledFlag, Outcome>()
  readonly #segments = new Memory<string, boolean>()
  /** Made when all flags are first evaluated together. */
  runner: RuleMatrixEvaluator | undefined

  constructor(flagSet: FlagSet) {
    this.#flagSet = flagSet
    this.#malformed = flagSet.malformed.size === 0 ? undefined : flagSet.malformed
  }

  get context(): EvaluationContext {
    return this.#context
  }

  begin(context: EvaluationContext, now: number): void {
    // Against its type, a caller may have none.
    this.#context = context ?? EMPTY
    this.#now = now
  }

  /** Forgets the context and all that was found out about it. */
  end(): void {
    this.#context = EMPTY
    this.#turn += 1
  }

  answer(flag: CompiledFlag, trace?: EvaluationTrace): Outcome {
    if (!flag.isActive) return flag.disabled
    // From here on no flag or segment can lead back to itself.
    if (this.#malformed?.has(flag.key) === true) return flag.malformed
    if (this.#hasUnmetPrerequisite(flag, trace)) return flag.unmet
    if (isEmptyContext(this.#context)) return flag.fallback
    return this.#findTarget(flag) ?? this.#followRules(flag, trace) ?? flag.fallback
  }

  detail(flag: CompiledFlag): EvaluationDetail {
    const trace: EvaluationTrace = {}
    const { variation, explanation } = this.answer(flag, trace)
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
    return this.#ask(this.#flagSet.flagsByKey.get(flagKey))?.variation?.key
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
      const variation = this.#ask(flag)?.variation
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

  /** What another flag serves to this context. */
  #ask(flag: CompiledFlag | undefined): Outcome | undefined {
    if (flag === undefined) return undefined
    const known = this.#asked.get(flag, this.#turn)
    if (known !== undefined) return known
    const outcome = this.answer(flag)
    this.#asked.set(flag, outcome, this.#turn)
    return outcome
  }

  /** The number of the range that the context is in; -1: in none, or it has no key to go by. */
  #rangeNumber(rollout: CompiledRollout): number {
    const key = readBucketingKey(this.#context, rollout.bucketBy)
    if (key === undefined) return -1
    const bucket = bucketFor(rollout, key)
    // To hand on the time makes garbage, unless engines happen to take the call into this function.
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

/** The evaluator of the set, or a new one while that is at work. */
export function takeEvaluator(
  flagSet: FlagSet,
  context: EvaluationContext,
  now: number,
): Evaluator {
  const { workspace } = flagSet
  const evaluator = workspace.evaluator ?? new Evaluator(flagSet)
  workspace.evaluator = undefined
  evaluator.begin(context, now)
  return evaluator
}

/** Lets the set have it for the next answer. */
export function giveBack({ workspace }: FlagSet, evaluator: Evaluator): void {
  evaluator.end()
  workspace.evaluator = evaluator
}

/** What is true for the turn. It is forgotten without being removed, which makes no garbage. */
class Memory<Key, Value> {
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
