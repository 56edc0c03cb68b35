export type {
  EvaluationDetail,
  EvaluationErrorCode,
  EvaluationReason,
  Explanation,
} from './evaluation/detail.ts'
export { evaluateCode, evaluateFlag, evaluateValue } from './evaluation/evaluate.ts'
export type { CompiledFlag } from './evaluation/flag.ts'
export {
  type CompileOptions,
  compileFlagSet,
  compileIncrementally,
  type FlagSet,
  prepareDefinitions,
} from './evaluation/flag-set.ts'
export {
  type CompiledVariation,
  codeCountOf,
  outcomeCodeOf,
  reasonOf,
  servedBy,
} from './evaluation/outcome.ts'
export { findAttribute, findBucketingKey } from './model/attribute.ts'
export { compareCodePoints } from './model/code-point.ts'
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
} from './model/context.ts'
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
} from './model/definition.ts'
export {
  FlagError,
  type FlagErrorCode,
  type FlagErrorOptions,
  type Issue,
  isFlagError,
} from './model/errors.ts'
export type {
  BucketingScheme,
  BucketingSettings,
  Extensions,
  RegexEngine,
} from './model/extensions.ts'
export {
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  jsonEquals,
} from './model/json.ts'
export { parseTimestamp } from './model/timestamp.ts'
export {
  type FlagValue,
  type FlagValues,
  type FlagValueType,
  MAX_VALUE_NESTING,
  parseFlagValue,
} from './model/value.ts'
export { ConditionCompiler } from './operators/condition.ts'
export { isOperator, type Operator } from './operators/operator.ts'
export { BUCKETS, bucketOf } from './rollouts/bucket.ts'
