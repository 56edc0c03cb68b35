import { type EvaluationContext, type EvaluationDetail, evaluateFlag, type FlagSet } from '@ff/core'
import { detailsOf, jsonOf, valuesOf } from '@ff/core/all-flags'
import { stepAt } from '@ff/core/changes'
import { valuesHash } from '@ff/core/fingerprint'
import type { FlagValues } from '@ff/protocol/sdk'
import type { Clock } from '../runtime/clock.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { type EntityTag, entityTagsIn } from './entity-tag.ts'
import { type Evaluated, evaluateAllTimed, evaluateSomeTimed } from './evaluated.ts'
import type { FlagSetCache } from './flag-set-cache.ts'

/** The values of one context, as they go over the wire. */
export interface Answer {
  readonly tag: EntityTag
  /** The flat object as JSON text; null when the caller already has exactly this. */
  readonly json: string | null
  /** What the text was made from; absent when nothing was evaluated. */
  readonly evaluated?: Evaluated
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
    const scope = { environmentId, kind: 'server' } as const
    const flagSet = await this.#cache.get(scope)
    this.#usage.requested(scope)
    const evaluated = evaluateAllTimed(flagSet, context, this.#clock.now())
    this.#usage.evaluated(scope, 'sdk', evaluated)
    return valuesOf(evaluated.evaluation)
  }

  /** Recorded. Throws `NOT_FOUND` when there is no such environment; an unknown flag is a detail. */
  async detail(
    environmentId: string,
    flagKey: string,
    context: EvaluationContext,
  ): Promise<EvaluationDetail> {
    const scope = { environmentId, kind: 'server' } as const
    const flagSet = await this.#cache.get(scope)
    this.#usage.requested(scope)
    const now = this.#clock.now()
    const evaluated = evaluateSomeTimed(flagSet, [flagKey], context, now)
    const [detail] = detailsOf(evaluated.evaluation)
    if (detail === undefined) return evaluateFlag(flagSet, flagKey, context, now)
    this.#usage.evaluated(scope, 'sdk', evaluated)
    return detail
  }

  /**
   * The tag, in an `If-None-Match` header, of what `answer` would answer: the caller has it, and
   * nothing need be known of the context but its hash.
   */
  findTag(flagSet: FlagSet, contextHash: string, ifNoneMatch: string): EntityTag | undefined {
    const { version } = flagSet
    const step = stepAt(flagSet, this.#clock.now())
    return entityTagsIn(ifNoneMatch).find(
      (tag) => tag.version === version && tag.step === step && tag.contextHash === contextHash,
    )
  }

  /** Whoever gives the answer records it. */
  answer(flagSet: FlagSet, context: EvaluationContext, contextHash: string): Answer {
    const now = this.#clock.now()
    const evaluated = evaluateAllTimed(flagSet, context, now)
    const { evaluation } = evaluated
    const tag = {
      version: flagSet.version,
      step: stepAt(flagSet, now),
      contextHash,
      valuesHash: valuesHash(evaluation),
    }
    return { tag, json: jsonOf(evaluation), evaluated }
  }
}
