import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as core from '../src/index.ts'
import * as regex from '../src/regex.ts'
import * as schema from '../src/schema.ts'
import * as schemes from '../src/schemes.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

describe('@ff/core', () => {
  it('has exactly these entries', () => {
    expect(Object.keys(JSON.parse(read('../package.json')).exports)).toEqual([
      '.',
      './schema',
      './schemes',
      './regex',
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

describe('@ff/core/schemes', () => {
  it('exports exactly these values', () => {
    expect(Object.keys(schemes).sort()).toEqual(SCHEMES)
  })
})

describe('@ff/core/regex', () => {
  it('exports exactly these values', () => {
    expect(Object.keys(regex)).toEqual(['re2'])
  })
})

const VALUES = [
  'BUCKETS',
  'FlagError',
  'MAX_CONTEXT_ATTRIBUTES',
  'MAX_CONTEXT_NESTING',
  'MAX_KIND_LENGTH',
  'MAX_VALUE_NESTING',
  'attributesRead',
  'bool',
  'bucketOf',
  'canonicalJson',
  'changedFlags',
  'changedValues',
  'codeCountOf',
  'compareCodePoints',
  'compileFlagSet',
  'conditionFault',
  'contextFingerprint',
  'contextHash',
  'defineFlags',
  'detailsOf',
  'evaluateAll',
  'evaluateDetail',
  'evaluateFlag',
  'evaluateSome',
  'evaluateValue',
  'explainFlag',
  'findAttribute',
  'findBucketingKey',
  'hash128',
  'isFlagError',
  'isJsonObject',
  'isOperator',
  'json',
  'jsonEquals',
  'jsonOf',
  'mergeChanges',
  'minimalContext',
  'moveRanges',
  'movedPercentage',
  'nextInstant',
  'number',
  'oneOf',
  'onlyFlags',
  'parseContext',
  'parseFlagValue',
  'parseInstant',
  'pickVariation',
  'rampingFlags',
  'rangesAt',
  'rangesOf',
  'reasonAt',
  'reasonOf',
  'reshuffledPercentage',
  'servedBy',
  'stepAt',
  'text',
  'valuesOf',
  'variationAt',
]

const TYPES = [
  'BucketRange',
  'BucketingScheme',
  'BucketingSettings',
  'CompileOptions',
  'CompiledFlag',
  'CompiledVariation',
  'ConditionDefinition',
  'DefinedFlags',
  'DefinitionDelta',
  'EmptyContext',
  'Engines',
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
  'FlagType',
  'FlagValue',
  'FlagValueType',
  'FlagValues',
  'FullDetail',
  'GradualRolloutDefinition',
  'Issue',
  'JsonArray',
  'JsonObject',
  'JsonValue',
  'MultiContext',
  'Operator',
  'PrerequisiteDefinition',
  'RangeRolloutDefinition',
  'RegexEngine',
  'RolloutDefinition',
  'RuleDefinition',
  'SegmentDefinition',
  'SegmentLogicalOp',
  'Share',
  'SingleContext',
  'TargetDefinition',
  'TypedDetail',
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

const SCHEMES = [
  'configcat',
  'flagd',
  'flagsmith',
  'growthbook1',
  'growthbook2',
  'launchdarkly',
  'posthog',
  'schemes',
  'unleash',
]
