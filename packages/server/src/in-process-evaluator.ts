import { type EvaluationContext, type EvaluationDetail, evaluateFlag } from '@ff/core'
import { detailsOf, valuesOf } from '@ff/core/all-flags'
import type { FlagValues } from '@ff/protocol/sdk'
import { evaluateAllTimed, evaluateSomeTimed } from './evaluation/evaluated.ts'
import type { FlagSetCache } from './evaluation/flag-set-cache.ts'
import type { Clock } from './runtime/clock.ts'
import type { UsageRecorder } from './usage/usage-recorder.ts'

interface InProcessEvaluatorOptions {
  readonly cache: FlagSetCache
  readonly usage: UsageRecorder
  readonly clock: Clock
}

/** Evaluates, and records, for the program that runs the server. */
export class InProcessEvaluator {
  readonly #options: InProcessEvaluatorOptions

  constructor(options: InProcessEvaluatorOptions) {
    this.#options = options
  }

  /** Returns every flag's value. Throws `NOT_FOUND` if the environment does not exist. */
  async values(environmentId: string, context: EvaluationContext): Promise<FlagValues> {
    const { cache, usage, clock } = this.#options
    const scope = { environmentId, kind: 'server' } as const
    const flagSet = await cache.get(scope)
    usage.requested(scope)
    const evaluated = evaluateAllTimed(flagSet, context, clock.now())
    usage.evaluated(scope, 'sdk', evaluated)
    return valuesOf(evaluated.evaluation)
  }

  /** Returns one flag's value, and why. Throws `NOT_FOUND` if the environment does not exist. */
  async detail(
    environmentId: string,
    flagKey: string,
    context: EvaluationContext,
  ): Promise<EvaluationDetail> {
    const { cache, usage, clock } = this.#options
    const scope = { environmentId, kind: 'server' } as const
    const flagSet = await cache.get(scope)
    usage.requested(scope)
    const now = clock.now()
    const evaluated = evaluateSomeTimed(flagSet, [flagKey], context, now)
    const [detail] = detailsOf(evaluated.evaluation)
    if (detail === undefined) return evaluateFlag(flagSet, flagKey, context, now)
    usage.evaluated(scope, 'sdk', evaluated)
    return detail
  }
}
