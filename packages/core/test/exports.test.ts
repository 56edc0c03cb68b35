import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as core from '../src/index.ts'
import * as schema from '../src/schema.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

describe('@ff/core', () => {
  it('has exactly these entries', () => {
    expect(Object.keys(JSON.parse(read('../package.json')).exports)).toEqual([
      '.',
      './schema',
      './package.json',
    ])
  })

  it('exports exactly these values', () => {
    expect(Object.keys(core).sort()).toEqual(VALUES)
  })

  it('exports exactly these types', () => {
    const exported = [...read('../src/index.ts').matchAll(/export (type )?\{([^}]*)\}/g)]
    const types = exported.flatMap(([, isType, names = '']) => {
      const listed = names
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean)
      const chosen = listed.filter((name) => isType !== undefined || name.startsWith('type '))
      return chosen.map((name) => name.replace('type ', ''))
    })
    expect(types.sort()).toEqual(TYPES)
  })
})

describe('@ff/core/schema', () => {
  it('exports exactly these values', () => {
    expect(Object.keys(schema).sort()).toEqual(SCHEMAS)
  })
})

const VALUES = [
  'BUCKETS',
  'FlagError',
  'MAX_CONTEXT_ATTRIBUTES',
  'MAX_CONTEXT_NESTING',
  'MAX_KIND_LENGTH',
  'MAX_VALUE_NESTING',
  'bucketOf',
  'canonicalJson',
  'changedFlags',
  'changedValues',
  'compareCodePoints',
  'compileFlagSet',
  'conditionFault',
  'contextFingerprint',
  'contextHash',
  'detailsOf',
  'evaluateAll',
  'evaluateFlag',
  'evaluateSome',
  'explainFlag',
  'findAttribute',
  'findBucketingKey',
  'hash128',
  'isFlagError',
  'isJsonObject',
  'isOperator',
  'jsonEquals',
  'jsonOf',
  'mergeChanges',
  'moveRanges',
  'movedPercentage',
  'nextInstant',
  'parseContext',
  'parseFlagValue',
  'parseInstant',
  'pickVariation',
  'rampingFlags',
  'rangesAt',
  'rangesOf',
  'reshuffledPercentage',
  'stepAt',
  'valuesOf',
]

const TYPES = [
  'BucketRange',
  'CompiledFlag',
  'CompiledVariation',
  'ConditionDefinition',
  'DefinitionDelta',
  'EmptyContext',
  'Evaluation',
  'EvaluationContext',
  'EvaluationDetail',
  'EvaluationErrorCode',
  'EvaluationReason',
  'Explanation',
  'ExplanationStep',
  'FlagDefinition',
  'FlagErrorCode',
  'FlagErrorOptions',
  'FlagExplanation',
  'FlagSet',
  'FlagSetDefinition',
  'FlagSetIssue',
  'FlagValue',
  'FlagValueType',
  'FlagValues',
  'GradualRolloutDefinition',
  'Issue',
  'JsonArray',
  'JsonObject',
  'JsonValue',
  'MultiContext',
  'Operator',
  'Outcome',
  'PrerequisiteDefinition',
  'RangeRolloutDefinition',
  'RolloutDefinition',
  'RuleDefinition',
  'SegmentDefinition',
  'SegmentLogicalOp',
  'Share',
  'SingleContext',
  'TargetDefinition',
  'ValueChanges',
  'VariationDefinition',
]

const SCHEMAS = [
  'conditionDefinitionSchema',
  'contextSchema',
  'flagDefinitionSchema',
  'flagSetDefinitionSchema',
  'prerequisiteDefinitionSchema',
  'rolloutDefinitionSchema',
  'ruleDefinitionSchema',
  'segmentDefinitionSchema',
  'targetDefinitionSchema',
  'variationDefinitionSchema',
]
