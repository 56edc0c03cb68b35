import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
  withRule,
} from '../../test/definitions.ts'
import { jsonOf, prepareIncrementally, valuesOf } from '../all-flags.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import type { FlagDefinition, SegmentDefinition } from '../model/definition.ts'
import { ruleMatrixOf, viewOf } from './batch-cache.ts'
import { evaluateTogether } from './evaluate-all.ts'

const isPro = { attribute: 'plan', operator: 'eq', value: 'pro' }

function userOf(plan: string) {
  return { kind: 'user', key: 'user-1', plan }
}

/** Flags for pro users. Every change of `version` changes the first flag. */
function flagsOf(version: number): FlagDefinition[] {
  const first = flagDefinition('flag-0', { offVariationId: `${version}`, rules: [] })
  return [first, withRule('flag-1', isPro), withRule('flag-2', isPro)]
}

function versionOf(version: number, previous?: FlagSet): FlagSet {
  return compileFlagSet(flagSetDefinition(flagsOf(version)), { previous })
}

describe('The array of outcome codes', () => {
  it('Later evaluations do not change the results of earlier evaluations', () => {
    const flagSet = versionOf(1)
    const plans = Array.from({ length: 70 }, (_, at) => (at % 3 === 0 ? 'pro' : 'free'))
    const evaluations = plans.map((plan) => evaluateTogether(flagSet, userOf(plan), 0))
    for (const [at, evaluation] of evaluations.entries()) {
      const isServed = plans[at] === 'pro'
      expect({ ...valuesOf(evaluation) }).toEqual({
        'flag-0': false,
        'flag-1': isServed,
        'flag-2': isServed,
      })
    }
  })

  it('16 evaluations share one array of outcome codes', () => {
    const flagSet = versionOf(1)
    const arrays = Array.from(
      { length: 48 },
      () => evaluateTogether(flagSet, userOf('pro'), 0).codes,
    )
    expect(new Set(arrays).size).toBe(3)
    expect(new Set(arrays.slice(0, 16)).size).toBe(1)
    expect(arrays[0]).toHaveLength(16 * 3)
  })
})

describe('The evaluator of a flag set', () => {
  it('A getter of a context can evaluate the same flag set during an evaluation', () => {
    const names = ['a', 'b', 'plan', 'y', 'z']
    const flags = names.map((attribute) => {
      return withRule(attribute, { attribute, operator: 'eq', value: 'pro' })
    })
    const flagSet = compileFlagSet(flagSetDefinition(flags))
    const inner = { kind: 'user', key: 'user-1', b: 'pro', y: 'pro' }
    const results: string[] = []
    const outer = {
      ...{ kind: 'user', key: 'user-2', a: 'pro', z: 'pro' },
      get plan() {
        results.push(jsonOf(evaluateTogether(flagSet, inner, 0)))
        return 'pro'
      },
    }
    const expected = { a: true, b: false, plan: true, y: false, z: true }
    for (let turn = 0; turn < 3; turn += 1) {
      expect({ ...valuesOf(evaluateTogether(flagSet, outer, 0)) }).toEqual(expected)
    }
    const nested = { a: false, b: true, plan: false, y: true, z: false }
    expect(results.length).toBeGreaterThan(0)
    expect(new Set(results)).toEqual(new Set([JSON.stringify(nested)]))
  })
})

describe('The caches of successive versions', () => {
  it('A version reuses the rule matrix and the view of the last evaluated version', () => {
    const first = versionOf(1)
    jsonOf(evaluateTogether(first, userOf('pro'), 0))
    const third = versionOf(3, versionOf(2, first))
    const [group] = ruleMatrixOf(third).shards.map((shard) => shard.group)
    expect(group).toBeDefined()
    expect(group).toBe(ruleMatrixOf(first).shards[0]?.group)
    expect(viewOf(third).offsets).toBe(viewOf(first).offsets)
    expect(viewOf(third)).not.toBe(viewOf(first))
  })

  it('A version keeps its rule matrix and its view', () => {
    const flagSet = versionOf(1)
    expect(ruleMatrixOf(flagSet)).toBe(ruleMatrixOf(flagSet))
    expect(viewOf(flagSet)).toBe(viewOf(flagSet))
  })

  it('An evaluation during an interruption compiles the rule matrix that is kept', () => {
    const flagSet = versionOf(1)
    const chunks = prepareIncrementally(flagSet)
    expect(chunks.next().done).toBe(false)
    const matrix = ruleMatrixOf(flagSet)
    for (const _chunk of chunks);
    expect(ruleMatrixOf(flagSet)).toBe(matrix)
  })
})

describe('prepareIncrementally', () => {
  type Named = readonly (readonly [operator: string, value: string])[]

  const flagSetOf = (
    rules: Named,
    segmentRules: Named,
    logicalOp: SegmentDefinition['logicalOp'] = 'AND',
  ) => {
    const toCondition = ([operator, value]: Named[number]) => ({
      attribute: 'plan',
      operator,
      value,
    })
    const flag = flagDefinition('flag', {
      rules: rules.map((rule, at) => {
        const conditions = [toCondition(rule)]
        return ruleDefinition({ id: `${at}`, conditions, segmentId: 'segment' })
      }),
    })
    const segment = segmentDefinition('segment', {
      rules: segmentRules.map(toCondition),
      logicalOp,
    })
    return compileFlagSet(flagSetDefinition([flag], [segment]))
  }

  /** Returns the number of conditions that the preparation of a flag set prepares. */
  const preparedIn = (flagSet: FlagSet): number => {
    const interruptions = [...prepareIncrementally(flagSet)].length
    const rules = flagSet.ordered.flatMap((flag) => flag.rules)
    const conditions = [...rules, ...flagSet.segments.values()].flatMap((each) => each.conditions)
    const prepared = [...new Set(conditions)].filter(({ test }) => test?.prepare() === false)
    expect(interruptions).toBeGreaterThanOrEqual(prepared.length)
    return prepared.length
  }

  const preparedBy = (
    rules: Named,
    segmentRules: Named = [],
    logicalOp: SegmentDefinition['logicalOp'] = 'AND',
  ) => preparedIn(flagSetOf(rules, segmentRules, logicalOp))

  it('prepareIncrementally prepares each condition alone, and is interrupted after it', () => {
    expect(preparedBy([['str_gt', 'a']])).toBe(1)
    expect(
      preparedBy([
        ['str_gt', 'a'],
        ['str_gt', 'b'],
        ['str_lt', 'a'],
      ]),
    ).toBe(3)
    expect(preparedBy([['eq', 'a']], [['str_gt', 'a']])).toBe(1)
    expect(preparedBy([['str_gt', 'a']], [['str_gt', 'b']])).toBe(2)
  })

  it('prepareIncrementally prepares no searches that the index evaluates, unless a segment is evaluated separately', () => {
    const search = [['contains', 'a']] as const
    expect(preparedBy(search, search)).toBe(0)
    expect(preparedBy([['eq', 'a']], search, 'NOT')).toBe(1)
  })

  it('prepareIncrementally prepares comparisons of networks, because the index contains only IPv4 addresses', () => {
    const flag = withRule('flag', { attribute: 'ip', operator: 'in_cidr', value: '10.0.0.0/16' })
    expect(preparedIn(compileFlagSet(flagSetDefinition([flag])))).toBe(1)
  })

  it('prepareIncrementally prepares no string-set conditions and no condition twice', () => {
    expect(
      preparedBy([
        ['eq', 'a'],
        ['not_in', 'b'],
      ]),
    ).toBe(0)
    expect(
      preparedBy(
        [
          ['str_gt', 'a'],
          ['str_gt', 'a'],
        ],
        [['str_gt', 'a']],
      ),
    ).toBe(1)
    const flagSet = flagSetOf([['str_gt', 'a']], [['str_gt', 'b']])
    expect([...prepareIncrementally(flagSet)].length).toBeGreaterThan(0)
    expect([...prepareIncrementally(flagSet)]).toEqual([])
  })
})
