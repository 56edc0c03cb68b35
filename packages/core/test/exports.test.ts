import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as allFlags from '../src/all-flags.ts'
import * as authoring from '../src/authoring.ts'
import * as changes from '../src/changes.ts'
import * as explain from '../src/explain.ts'
import * as fingerprint from '../src/fingerprint.ts'
import * as flagSetRoot from '../src/flag-set-root.ts'
import * as flagTypes from '../src/flag-types.ts'
import * as core from '../src/index.ts'
import * as regex from '../src/regex.ts'
import * as schema from '../src/schema.ts'
import * as schemes from '../src/schemes.ts'
import * as typedFlags from '../src/typed-flags.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

/** Returns the names of the types that a file exports or re-exports. */
function typesIn(file: string): string[] {
  const code = read(file)
  const own = [...code.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name = '']) => name)
  const others = [...code.matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(
    ([, isType, list = '']) => {
      const names = list.split(',').map((name) => name.trim())
      const chosen = names.filter((name) => isType !== undefined || name.startsWith('type '))
      return chosen.map((name) => name.replace('type ', '')).filter(Boolean)
    },
  )
  return [...own, ...others].sort()
}

describe('@ff/core', () => {
  it('@ff/core has exactly these entries', () => {
    expect(Object.keys(JSON.parse(read('../package.json')).exports)).toEqual([
      '.',
      './all-flags',
      './explain',
      './changes',
      './flag-set-root',
      './typed-flags',
      './flag-types',
      './fingerprint',
      './authoring',
      './schema',
      './schemes',
      './regex',
      './package.json',
    ])
  })

  it('@ff/core exports exactly these values', () => {
    expect(Object.keys(core).sort()).toEqual(VALUES)
  })

  it('@ff/core exports exactly these types', () => {
    expect(typesIn('../src/index.ts')).toEqual(TYPES)
  })
})

describe.each([
  {
    name: 'all-flags',
    entry: allFlags,
    values: [
      'clientView',
      'detailsOf',
      'evaluateAll',
      'evaluateSome',
      'jsonOf',
      'onlyFlags',
      'prepareIncrementally',
      'reasonAt',
      'valuesOf',
      'variationAt',
    ],
    types: ['Evaluation'],
  },
  {
    name: 'explain',
    entry: explain,
    values: [
      'ContextEvaluation',
      'attributesRead',
      'attributesReadBy',
      'evaluateDetail',
      'explainFlag',
      'explainIncrementally',
      'knownAttributes',
      'minimalContext',
      'prepareExplanations',
    ],
    types: ['ExplanationStep', 'FlagExplanation', 'FullDetail', 'Outcome'],
  },
  {
    name: 'changes',
    entry: changes,
    values: [
      'changedByGradualRollouts',
      'changedFlags',
      'changedValues',
      'mergeChanges',
      'nextTimestamp',
      'stepAt',
    ],
    types: [
      'Changed',
      'ChangedSegment',
      'DefinitionDelta',
      'KeyChanges',
      'SegmentProperties',
      'ValueChanges',
    ],
  },
  {
    name: 'flag-set-root',
    entry: flagSetRoot,
    values: ['FlagSetRoot', 'flagSetRoot', 'flagSetRootIncrementally'],
    types: [],
  },
  {
    name: 'typed-flags',
    entry: typedFlags,
    values: ['bool', 'defineFlags', 'json', 'number', 'oneOf', 'text'],
    types: ['DefinedFlags', 'FlagType', 'TypedDetail'],
  },
  {
    name: 'flag-types',
    entry: flagTypes,
    values: ['bool', 'defineFlags', 'json', 'number', 'oneOf', 'text'],
    types: ['FlagType', 'FlagTypes'],
  },
  {
    name: 'fingerprint',
    entry: fingerprint,
    values: [
      'canonicalJson',
      'canonicalJsonIncrementally',
      'contextFingerprint',
      'contextHash',
      'hash128',
      'hash128Incrementally',
      'hash128Into',
      'valuesHash',
    ],
    types: [],
  },
  {
    name: 'authoring',
    entry: authoring,
    values: [
      'PublishedDefinitions',
      'authoringFault',
      'conditionFault',
      'containsInexact',
      'definitionFaultIncrementally',
      'findErrors',
      'findIssues',
      'flagReferenceOf',
      'isExactNumber',
      'moveRanges',
      'movedPercentage',
      'nextStepAt',
      'pickVariation',
      'rangesAt',
      'rangesOf',
      'reshuffledPercentage',
      'segmentIdsOf',
    ],
    types: ['DefinitionChange', 'FlagSetIssue', 'Share'],
  },
])('@ff/core/$name', ({ name, entry, values, types }) => {
  it('@ff/core/$name exports exactly these values', () => {
    expect(Object.keys(entry).sort()).toEqual(values)
  })

  it('@ff/core/$name exports exactly these types', () => {
    expect(typesIn(`../src/${name}.ts`)).toEqual(types)
  })
})

describe('@ff/core/schema', () => {
  it('@ff/core/schema exports exactly these values', () => {
    expect(Object.keys(schema).sort()).toEqual(SCHEMAS)
  })
})

describe('@ff/core/schemes', () => {
  it('@ff/core/schemes exports exactly these values', () => {
    expect(Object.keys(schemes).sort()).toEqual(SCHEMES)
  })
})

describe('@ff/core/regex', () => {
  it('@ff/core/regex exports exactly these values', () => {
    expect(Object.keys(regex)).toEqual(['re2'])
  })
})

const VALUES = [
  'BUCKETS',
  'ConditionCompiler',
  'FlagError',
  'MAX_CONTEXT_ATTRIBUTES',
  'MAX_CONTEXT_KINDS',
  'MAX_CONTEXT_NESTING',
  'MAX_CONTEXT_TEXT_LENGTH',
  'MAX_KIND_LENGTH',
  'MAX_VALUE_NESTING',
  'bucketOf',
  'codeCountOf',
  'compareCodePoints',
  'compileFlagSet',
  'compileIncrementally',
  'evaluateCode',
  'evaluateFlag',
  'evaluateValue',
  'findAttribute',
  'findBucketingKey',
  'isFlagError',
  'isJsonObject',
  'isOperator',
  'jsonEquals',
  'outcomeCodeOf',
  'parseContext',
  'parseFlagValue',
  'parseTimestamp',
  'prepareDefinitions',
  'reasonOf',
  'servedBy',
]

const TYPES = [
  'BucketRange',
  'BucketingScheme',
  'BucketingSettings',
  'CompileOptions',
  'CompiledFlag',
  'CompiledVariation',
  'ConditionDefinition',
  'EmptyContext',
  'EvaluationContext',
  'EvaluationDetail',
  'EvaluationErrorCode',
  'EvaluationReason',
  'Explanation',
  'Extensions',
  'FlagDefinition',
  'FlagErrorCode',
  'FlagErrorOptions',
  'FlagSet',
  'FlagSetDefinition',
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
  'PrerequisiteDefinition',
  'RangeRolloutDefinition',
  'RegexEngine',
  'RolloutDefinition',
  'RuleDefinition',
  'SegmentDefinition',
  'SegmentLogicalOp',
  'SingleContext',
  'TargetDefinition',
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
  'flagdJs',
  'flagsmith',
  'growthbook1',
  'growthbook2',
  'launchdarkly',
  'posthog',
  'schemes',
  'unleash',
  'unleashNode',
]
