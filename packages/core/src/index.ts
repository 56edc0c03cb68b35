export { findAttribute, findBucketingKey } from './attribute.ts'
export { BUCKETS, bucketOf } from './bucket.ts'
export { compareCodePoints } from './code-point.ts'
export {
  type EmptyContext,
  type EvaluationContext,
  MAX_CONTEXT_ATTRIBUTES,
  MAX_CONTEXT_KINDS,
  MAX_CONTEXT_NESTING,
  MAX_CONTEXT_TEXT_LENGTH,
  MAX_KIND_LENGTH,
  type MultiContext,
  parseContext,
  type SingleContext,
} from './context.ts'
export type {
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
  SegmentLogicalOp,
  TargetDefinition,
  VariationDefinition,
} from './definition.ts'
export type {
  EvaluationDetail,
  EvaluationErrorCode,
  EvaluationReason,
  Explanation,
} from './detail.ts'
export type { BucketingScheme, BucketingSettings, Engines, RegexEngine } from './engines.ts'
export {
  FlagError,
  type FlagErrorCode,
  type FlagErrorOptions,
  type Issue,
  isFlagError,
} from './errors.ts'
export { evaluateFlag, evaluateValue } from './evaluate.ts'
export type { CompiledFlag } from './flag.ts'
export { type CompileOptions, compileFlagSet, compileInParts, type FlagSet } from './flag-set.ts'
export { parseInstant } from './instant.ts'
export {
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  jsonEquals,
} from './json.ts'
export { isOperator, type Operator } from './operator.ts'
export { type CompiledVariation, codeCountOf, reasonOf, servedBy } from './outcome.ts'
export {
  type FlagValue,
  type FlagValues,
  type FlagValueType,
  MAX_VALUE_NESTING,
  parseFlagValue,
} from './value.ts'
