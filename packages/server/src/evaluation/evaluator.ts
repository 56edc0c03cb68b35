import {
  contextHash,
  type EvaluationContext,
  type EvaluationDetail,
  evaluateAll,
  evaluateFlag,
  type FlagSet,
  hash128,
  jsonOf,
  stepAt,
  valuesOf,
} from '@ff/core'
import type { FlagValues } from '@ff/protocol/sdk'
import type { Clock } from '../clock.ts'
import { type EntityTag, entityTagsIn } from './entity-tag.ts'
import type { FlagSetCache } from './flag-set-cache.ts'

/** The values of one context, as they go over the wire. */
export interface Answer {
  readonly tag: EntityTag
  /** The flat object as JSON text; null when the caller already has exactly this. */
  readonly json: string | null
}

/** Environment and context → values. */
export class Evaluator {
  readonly #cache: FlagSetCache
  readonly #clock: Clock

  constructor(cache: FlagSetCache, clock: Clock) {
    this.#cache = cache
    this.#clock = clock
  }

  /** Throws `NOT_FOUND` when there is no such environment. */
  async values(environmentId: string, context: EvaluationContext): Promise<FlagValues> {
    const flagSet = await this.#cache.get(environmentId)
    return valuesOf(evaluateAll(flagSet, context, this.#clock.now()))
  }

  /** Throws `NOT_FOUND` when there is no such environment; an unknown flag is a detail. */
  async detail(
    environmentId: string,
    flagKey: string,
    context: EvaluationContext,
  ): Promise<EvaluationDetail> {
    const flagSet = await this.#cache.get(environmentId)
    return evaluateFlag(flagSet, flagKey, context, this.#clock.now())
  }

  /** The answer to a caller who may already have some: `ifNoneMatch` is that header's text. */
  answer(flagSet: FlagSet, context: EvaluationContext, ifNoneMatch?: string): Answer {
    const now = this.#clock.now()
    const made = {
      version: flagSet.version,
      step: stepAt(flagSet, now),
      contextHash: contextHash(context),
    }
    if (ifNoneMatch !== undefined) {
      const tag = entityTagsIn(ifNoneMatch).find((known) => isMadeFrom(known, made))
      if (tag !== undefined) return { tag, json: null }
    }
    const json = jsonOf(evaluateAll(flagSet, context, now))
    return { tag: { ...made, valuesHash: hash128(json) }, json }
  }
}

/** Whether a tag names this flag set, step and context; the values are then known to be equal. */
function isMadeFrom(tag: EntityTag, made: Omit<EntityTag, 'valuesHash'>): boolean {
  return (
    tag.version === made.version && tag.step === made.step && tag.contextHash === made.contextHash
  )
}
