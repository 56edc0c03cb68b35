import { type EvaluationContext, type EvaluationDetail, evaluateFlag, type FlagSet } from '@ff/core'
import { detailsOf, jsonOf, valuesOf } from '@ff/core/all-flags'
import { stepAt } from '@ff/core/changes'
import { valuesHash } from '@ff/core/fingerprint'
import type { FlagValues } from '@ff/protocol/sdk'
import type { Clock } from '../clock.ts'
import { contextHashOf, type EntityTag, entityTagsIn } from './entity-tag.ts'
import { type Evaluated, evaluateAllTimed, evaluateSomeTimed } from './evaluated.ts'
import type { FlagSetCache } from './flag-set-cache.ts'
import type { UsageRecorder } from './usage-recorder.ts'

/** The values of one context, as they go over the wire. */
export interface Answer {
  readonly tag: EntityTag
  /** The flat object as JSON text; null when the caller already has exactly this. */
  readonly json: string | null
  /** What the text was made from; absent when nothing was evaluated. */
  readonly evaluated?: Evaluated
}

/** What is known of a question besides the context. */
export interface Asking {
  /** The header of that name. */
  readonly ifNoneMatch?: string | undefined
  /** The bytes that the context was read from. */
  readonly body?: Uint8Array | undefined
}

interface EvaluatorParts {
  readonly cache: FlagSetCache
  readonly usage: UsageRecorder
  readonly clock: Clock
}

/** Environment and context → values. */
export class Evaluator {
  readonly #cache: FlagSetCache
  readonly #usage: UsageRecorder
  readonly #clock: Clock

  constructor({ cache, usage, clock }: EvaluatorParts) {
    this.#cache = cache
    this.#usage = usage
    this.#clock = clock
  }

  /** Recorded. Throws `NOT_FOUND` when there is no such environment. */
  async values(environmentId: string, context: EvaluationContext): Promise<FlagValues> {
    const flagSet = await this.#cache.get(environmentId)
    this.#usage.requested(environmentId)
    const evaluated = evaluateAllTimed(flagSet, context, this.#clock.now())
    this.#usage.evaluated(environmentId, 'sdk', evaluated)
    return valuesOf(evaluated.evaluation)
  }

  /** Recorded. Throws `NOT_FOUND` when there is no such environment; an unknown flag is a detail. */
  async detail(
    environmentId: string,
    flagKey: string,
    context: EvaluationContext,
  ): Promise<EvaluationDetail> {
    const flagSet = await this.#cache.get(environmentId)
    this.#usage.requested(environmentId)
    const now = this.#clock.now()
    const evaluated = evaluateSomeTimed(flagSet, [flagKey], context, now)
    const [detail] = detailsOf(evaluated.evaluation)
    if (detail === undefined) return evaluateFlag(flagSet, flagKey, context, now)
    this.#usage.evaluated(environmentId, 'sdk', evaluated)
    return detail
  }

  /** The answer to a caller who may already have some. Whoever gives it records it. */
  answer(flagSet: FlagSet, context: EvaluationContext, { ifNoneMatch, body }: Asking = {}): Answer {
    const now = this.#clock.now()
    const made = {
      version: flagSet.version,
      step: stepAt(flagSet, now),
      contextHash: contextHashOf(context, body),
    }
    if (ifNoneMatch !== undefined) {
      const tag = entityTagsIn(ifNoneMatch).find((known) => isMadeFrom(known, made))
      if (tag !== undefined) return { tag, json: null }
    }
    const evaluated = evaluateAllTimed(flagSet, context, now)
    const { evaluation } = evaluated
    const { version, step, contextHash } = made
    const tag = { version, step, contextHash, valuesHash: valuesHash(evaluation) }
    return { tag, json: jsonOf(evaluation), evaluated }
  }
}

/** Whether a tag names this flag set, step and context; the values are then known to be equal. */
function isMadeFrom(tag: EntityTag, made: Omit<EntityTag, 'valuesHash'>): boolean {
  return (
    tag.version === made.version && tag.step === made.step && tag.contextHash === made.contextHash
  )
}
