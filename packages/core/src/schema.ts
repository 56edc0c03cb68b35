import * as z from 'zod'
import { type EvaluationContext, parseContext } from './model/context.ts'
import type {
  BucketRange,
  ConditionDefinition,
  FlagDefinition,
  FlagSetDefinition,
  GradualRolloutDefinition,
  PrerequisiteDefinition,
  RangeRolloutDefinition,
  RolloutDefinition,
  RuleDefinition,
  SegmentDefinition,
  TargetDefinition,
  VariationDefinition,
} from './model/definition.ts'
import { type Issue, isFlagError } from './model/errors.ts'
import { parseTimestamp } from './model/timestamp.ts'

const CONTEXT = 'context'

/**
 * A schema that accepts the same input as `parseContext` and returns the input object itself. The
 * paths of its issues, joined by dots, are those of `parseContext` without the leading `context`.
 */
export const contextSchema = z.unknown().transform((input, check): EvaluationContext => {
  try {
    return parseContext(input)
  } catch (error) {
    if (!isFlagError(error)) throw error
    for (const { path, message } of issuesOf(error.details)) {
      const below = path === CONTEXT ? [] : [path.slice(CONTEXT.length + 1)]
      check.addIssue({ code: 'custom', message, path: below })
    }
    return z.NEVER
  }
}) satisfies z.ZodType<EvaluationContext>

function issuesOf(details: Readonly<Record<string, unknown>> | null): readonly Issue[] {
  return (details?.issues ?? []) as readonly Issue[]
}

/** The shape of a condition. Any text is accepted as an operator; unknown operators never match. */
export const conditionDefinitionSchema = z.object({
  attribute: z.string(),
  operator: z.string(),
  value: z.string(),
  negate: z.boolean().exactOptional(),
}) satisfies z.ZodType<ConditionDefinition>

/** The shape of a segment. */
export const segmentDefinitionSchema = z.object({
  id: z.string(),
  key: z.string(),
  rules: z.array(conditionDefinitionSchema),
  logicalOp: z.enum(['AND', 'OR', 'NOT']),
  force: z.boolean(),
  keyAttribute: z.string(),
  included: z.array(z.string()),
  excluded: z.array(z.string()),
}) satisfies z.ZodType<SegmentDefinition>

const bucket = z.int().min(0).max(100_000)

const bucketRangeSchema = z
  .object({ variationId: z.string(), from: bucket, to: bucket })
  .refine(
    ({ from, to }) => from <= to,
    '`from` must not be greater than `to`',
  ) satisfies z.ZodType<BucketRange>

const rolloutBasis = {
  id: z.string(),
  bucketBy: z.string(),
  salt: z.string(),
  scheme: z.string(),
}

const rangeRolloutSchema = z.object({
  ...rolloutBasis,
  strategy: z.enum(['percentage', 'variant']),
  ranges: z.array(bucketRangeSchema),
  totalWeight: z.int().min(1).max(100_000).exactOptional(),
}) satisfies z.ZodType<RangeRolloutDefinition>

const percent = z.number().min(0).max(100)
const isTimestamp = (text: string) => parseTimestamp(text) !== undefined

const gradualRolloutSchema = z.object({
  ...rolloutBasis,
  strategy: z.literal('gradual'),
  variationId: z.string(),
  targetPercentage: percent,
  increment: percent,
  intervalHours: z.number().positive(),
  startAt: z.string().refine(isTimestamp, 'must be an RFC 3339 timestamp with a time zone'),
}) satisfies z.ZodType<GradualRolloutDefinition>

/** The shape of a rollout with fixed ranges (`percentage`, `variant`) or of a gradual rollout. */
export const rolloutDefinitionSchema = z.discriminatedUnion('strategy', [
  rangeRolloutSchema,
  gradualRolloutSchema,
]) satisfies z.ZodType<RolloutDefinition>

/** The shape of a variation. Its value is not parsed by the type of the flag. */
export const variationDefinitionSchema = z.object({
  id: z.string(),
  key: z.string(),
  value: z.string(),
}) satisfies z.ZodType<VariationDefinition>

/** The shape of a list of context keys that receive one variation. */
export const targetDefinitionSchema = z.object({
  variationId: z.string(),
  kind: z.string(),
  keys: z.array(z.string()),
}) satisfies z.ZodType<TargetDefinition>

/** The shape of a prerequisite. */
export const prerequisiteDefinitionSchema = z.object({
  flagId: z.string(),
  variationIds: z.array(z.string()),
}) satisfies z.ZodType<PrerequisiteDefinition>

/** The shape of a targeting rule. */
export const ruleDefinitionSchema = z.object({
  id: z.string(),
  orderIndex: z.number(),
  createdAt: z.string(),
  conditions: z.array(conditionDefinitionSchema),
  segmentId: z.string().nullable(),
  variationId: z.string().nullable(),
  rolloutId: z.string().nullable(),
}) satisfies z.ZodType<RuleDefinition>

/** The shape of a flag. References between the parts of the flag are not checked. */
export const flagDefinitionSchema = z.object({
  id: z.string(),
  key: z.string(),
  type: z.enum(['boolean', 'string', 'number', 'json']),
  isActive: z.boolean(),
  clientVisible: z.boolean().exactOptional(),
  variations: z.array(variationDefinitionSchema),
  defaultVariationId: z.string(),
  offVariationId: z.string().nullable(),
  targets: z.array(targetDefinitionSchema),
  prerequisites: z.array(prerequisiteDefinitionSchema),
  rules: z.array(ruleDefinitionSchema),
  rollouts: z.array(rolloutDefinitionSchema),
}) satisfies z.ZodType<FlagDefinition>

/**
 * The shape of all definitions of an environment. References between flags and segments are not
 * checked, because `compileFlagSet` accepts broken references. Unknown fields are removed, so that
 * a newer server can send additional fields.
 */
export const flagSetDefinitionSchema = z.object({
  version: z.int().min(0),
  clientVersion: z.int().min(0).exactOptional(),
  flags: z.array(flagDefinitionSchema),
  segments: z.array(segmentDefinitionSchema),
}) satisfies z.ZodType<FlagSetDefinition>
