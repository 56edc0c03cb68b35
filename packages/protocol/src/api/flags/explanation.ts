import type { EvaluationDetail } from '@ff/core'
import type { ExplanationStep } from '@ff/core/explain'
import * as z from 'zod'
import { record, type Wire } from '../record.ts'
import { count, instant, timestamp } from '../scalars.ts'

/**
 * The body of `explainEvaluation`. By default, it evaluates all flags of the current version at the
 * current time.
 */
export type EvaluationQuestion = z.output<typeof evaluationQuestionCodec>

/** The codec of `EvaluationQuestion`. */
export const evaluationQuestionCodec = record({
  /** An evaluation context, which `@ff/core` validates. */
  context: z.unknown(),
  flagKey: z.string().optional(),
  version: z.int().min(1).max(2_147_483_647).optional(),
  at: instant.optional(),
})

/** The result of one flag and the steps of its evaluation. */
export interface ExplainedFlag extends EvaluationDetail {
  /**
   * The keys of the prerequisites that are not met: first the prerequisite of this flag, then the
   * prerequisite of that prerequisite, and so on.
   */
  readonly prerequisiteChain: readonly string[]
  /**
   * The attributes that the result depends on; `null` if they are omitted together with the steps.
   */
  readonly attributesRead: readonly string[] | null
  /**
   * The steps of the evaluation; `null` if they are omitted because the response would be too long.
   * Then request the explanation of this flag alone.
   */
  readonly steps: readonly ExplanationStep[] | null
}

/** The results of an explained evaluation. */
export interface ExplainedEvaluation {
  readonly version: number
  readonly at: string
  readonly flags: readonly ExplainedFlag[]
}

const range = z.strictObject({ from: count, to: count })

/** The codec of `ExplanationStep`. */
export const explanationStepCodec: Wire<ExplanationStep> = record({
  type: z.enum([
    'flag',
    'prerequisite',
    'context',
    'target',
    'rule',
    'condition',
    'segment',
    'rollout',
    'answer',
  ]),
  outcome: z.enum(['held', 'not_held', 'skipped']),
  text: z.string(),
  flagKey: z.string().exactOptional(),
  variationKey: z.string().nullable().exactOptional(),
  ruleId: z.string().exactOptional(),
  segmentId: z.string().exactOptional(),
  rolloutId: z.string().exactOptional(),
  attribute: z.string().exactOptional(),
  operator: z.string().exactOptional(),
  value: z.string().exactOptional(),
  found: z.string().nullable().exactOptional(),
  isInexact: z.literal(true).exactOptional(),
  bucket: count.exactOptional(),
  range: range.exactOptional(),
  steps: z.lazy(() => z.array(explanationStepCodec).readonly()).exactOptional(),
})

const explainedFlag: Wire<ExplainedFlag> = record({
  flagKey: z.string(),
  value: z.json(),
  variationId: z.string().nullable(),
  variationKey: z.string().nullable(),
  reason: z.enum(['TARGETING_MATCH', 'SPLIT', 'STATIC', 'DEFAULT', 'DISABLED', 'ERROR']),
  ruleId: z.string().exactOptional(),
  segmentId: z.string().exactOptional(),
  rolloutId: z.string().exactOptional(),
  bucket: count.exactOptional(),
  range: range.exactOptional(),
  prerequisiteKey: z.string().exactOptional(),
  errorCode: z
    .enum(['FLAG_NOT_FOUND', 'MALFORMED_FLAG', 'TYPE_MISMATCH', 'TARGETING_KEY_MISSING'])
    .exactOptional(),
  prerequisiteChain: z.array(z.string()).readonly(),
  attributesRead: z.array(z.string()).readonly().nullable(),
  steps: z.array(explanationStepCodec).readonly().nullable(),
})

/** The codec of `ExplainedEvaluation`. */
export const explainedEvaluationCodec: Wire<ExplainedEvaluation> = record({
  version: count,
  at: timestamp,
  flags: z.array(explainedFlag).readonly(),
})
