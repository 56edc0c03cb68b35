import type { EvaluationContext, FlagSet } from '@ff/core'
import { jsonOf } from '@ff/core/all-flags'
import { stepAt } from '@ff/core/changes'
import { valuesHash } from '@ff/core/fingerprint'
import { type EntityTag, entityTagsIn } from './entity-tag.ts'
import { type Evaluated, evaluateAllTimed } from './evaluated.ts'

/** The values of one context, as they are sent. */
export interface EvaluationAnswer {
  readonly tag: EntityTag
  /** The flat object as JSON text; null if the caller already has exactly this. */
  readonly json: string | null
  /** What the text was made from; absent if nothing was evaluated. */
  readonly evaluated?: Evaluated
}

interface AnswerInput {
  readonly contextHash: string
  /** Epoch milliseconds. */
  readonly now: number
}

/** Evaluates every flag. The caller records the evaluation. */
export function evaluationAnswer(
  flagSet: FlagSet,
  { context, contextHash, now }: AnswerInput & { readonly context: EvaluationContext },
): EvaluationAnswer {
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

/**
 * Returns the tag in an `If-None-Match` header that `evaluationAnswer` would return; `undefined` if
 * there is none. Needs nothing of the context but its hash.
 */
export function findCurrentTag(
  flagSet: FlagSet,
  { ifNoneMatch, contextHash, now }: AnswerInput & { readonly ifNoneMatch: string },
): EntityTag | undefined {
  const { version } = flagSet
  const step = stepAt(flagSet, now)
  return entityTagsIn(ifNoneMatch).find(
    (tag) => tag.version === version && tag.step === step && tag.contextHash === contextHash,
  )
}
