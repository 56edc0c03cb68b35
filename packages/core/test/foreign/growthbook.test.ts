import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findIssues } from '../../src/authoring/issues.ts'
import {
  BUCKETS,
  compileFlagSet,
  evaluateFlag,
  type FlagSet,
  type JsonObject,
  type JsonValue,
} from '../../src/index.ts'
import { re2 } from '../../src/regex.ts'
import { schemes } from '../../src/schemes.ts'
import {
  compileCondition,
  conditionHolds,
  type GrowthBook,
  readGrowthBook,
  sourceOf,
  toContext,
} from './growthbook.ts'
import { readCondition, type SavedGroups } from './growthbook-condition.ts'

interface Cases {
  readonly hash: readonly [seed: string, value: string, version: number, hash: number | null][]
  readonly evalCondition: readonly [
    name: string,
    condition: JsonObject,
    attributes: JsonObject,
    holds: boolean,
    groups?: SavedGroups,
  ][]
  readonly feature: readonly [
    name: string,
    setup: GrowthBook,
    key: string,
    expected: FeatureResult,
  ][]
}

interface FeatureResult {
  readonly value: JsonValue
  readonly on: boolean
  readonly off: boolean
  readonly source: string
  readonly ruleId: string
}

const FILE = new URL('../fixtures/growthbook/cases.json', import.meta.url)
const cases: Cases = JSON.parse(readFileSync(FILE, 'utf8'))
const extensions = { regex: re2, schemes }

describe('Hashes of GrowthBook', () => {
  it.each(cases.hash)(
    'The GrowthBook hash of seed %j and value %j with version %d is %d',
    (salt, value, version, hash) => {
      const scheme = schemes.get(`growthbook-${version}`)
      const bucket = scheme?.({ salt, strategy: 'variant' })(value)
      expect(bucket === undefined ? null : bucket / BUCKETS).toBe(hash)
    },
  )
})

describe('Conditions of GrowthBook', () => {
  it.each(cases.evalCondition)('%s', (name, condition, attributes, holds, groups) => {
    const flagSet = compileCondition(readCondition(condition, groups), extensions)
    expect(conditionHolds(flagSet, attributes)).toBe(holds)
    expect(findIssues(flagSet).length > 0).toBe(name.startsWith('$regex invalid'))
  })
})

describe('Features of GrowthBook', () => {
  it.each(cases.feature)('%s', (_, setup, key, expected) => {
    const flagSet = compileFlagSet(readGrowthBook(setup, extensions), { extensions })
    const { value, on, off, source, ruleId } = expected
    expect(answerTo(flagSet, setup, key)).toEqual({ value, on, off, source, ruleId })
    expect(findIssues(flagSet).length > 0).toBe(source === 'cyclicPrerequisite')
  })
})

function answerTo(flagSet: FlagSet, setup: GrowthBook, key: string): FeatureResult {
  const detail = evaluateFlag(flagSet, key, toContext(setup.attributes), 0)
  const { value, errorCode, reason } = detail
  const on = Boolean(value)
  const common = { value, on, off: !on }
  if (errorCode === 'FLAG_NOT_FOUND') return { ...common, source: 'unknownFeature', ruleId: '' }
  // No other errors occur in these features.
  if (reason === 'ERROR') return { ...common, source: 'cyclicPrerequisite', ruleId: '' }
  return { ...common, ...sourceOf(detail.ruleId ?? '') }
}

describe('The test cases of GrowthBook', () => {
  it('All GrowthBook cases of the three sections about evaluation are run', () => {
    const counts = [cases.hash, cases.evalCondition, cases.feature].map((each) => each.length)
    expect(counts).toEqual([15, 248, 55])
  })
})
