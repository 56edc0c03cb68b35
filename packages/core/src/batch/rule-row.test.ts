import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition } from '../../test/definitions.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { ConditionDefinition } from '../model/definition.ts'
import { compileCondition } from '../operators/condition.ts'
import { conditionsRow, sourceOf, targetRow } from './rule-row.ts'

function on(operator: string, value = '', negate = false): ConditionDefinition {
  return { attribute: 'plan', operator, value, negate }
}

function rowOf(definitions: readonly ConditionDefinition[], segmentId: string | null = null) {
  const conditions = definitions.map((definition) => compileCondition(definition))
  return { conditions, row: conditionsRow(conditions, definitions, segmentId) }
}

function testOf(definition: ConditionDefinition) {
  return rowOf([definition]).row?.tests[0]
}

describe('conditionsRow', () => {
  it.each<[operator: string, value: string, others: boolean, missing: boolean]>([
    ['eq', 'a', false, false],
    ['neq', 'a', true, false],
    ['in', '["a"]', false, false],
    ['not_in', '["a"]', true, false],
    ['exists', '', true, false],
    ['not_exists', '', false, true],
    ['gt', '1', false, false],
    ['between', '[1,2]', false, false],
    ['before', '1', false, false],
    ['semver_lt', '1', false, false],
    ['in_cidr', '10.0.0.0/8', false, false],
    ['not_in_cidr', '10.0.0.0/8', true, false],
    ['contains', 'a', false, false],
    ['not_ends_with_ci', 'a', true, false],
    ['array_contains_all', 'a', false, false],
    ['array_contains_none', '[]', true, false],
  ])('The test of %s %s has opposite results with and without negation', (...expected) => {
    const [operator, value, others, missing] = expected
    const test = testOf(on(operator, value))
    expect([test?.isForOthers, test?.isForMissing]).toEqual([others, missing])
    const negated = testOf(on(operator, value, true))
    expect([negated?.isForOthers, negated?.isForMissing]).toEqual([!others, !missing])
  })

  it('The test of a condition has its source, its texts or ranges, and the condition', () => {
    const definitions = [on('in', '["a",7,true]'), on('gte', '7'), on('exists')]
    const { conditions, row } = rowOf(definitions)
    expect(row?.tests.map(({ condition }) => condition)).toEqual(conditions)
    expect(row?.tests.map(({ search }) => search)).toEqual([undefined, undefined, undefined])
    expect(row?.tests.map(({ texts }) => texts)).toEqual([['a', '7', 'true'], [], []])
    expect(row?.tests.map(({ ranges }) => ranges)).toEqual([[], [{ from: 7, to: Infinity }], []])
    expect(row?.tests.map(({ scale }) => scale?.name)).toEqual([undefined, 'number', undefined])
    expect(row?.tests.map(({ source }) => source.name)).toEqual([
      ...['attribute plan', 'attribute plan', 'attribute plan'],
    ])
    expect([row?.conditions, row?.segmentIds]).toEqual([[], []])
  })

  it('The test of a search has its kind and the texts as they are compared', () => {
    const tests = [
      ...[on('starts_with', 'A'), on('contains_ci', '["A","É",7]'), on('not_ends_with', 'a')],
      ...[on('array_contains_none', '["a",true]'), on('contains', 'a'.repeat(256))],
    ].map((definition) => testOf(definition))
    expect(tests.map((test) => test?.search?.name)).toEqual([
      ...['start', 'anywhere, in lower case', 'end', 'element'],
      'anywhere',
    ])
    expect(tests.slice(0, 4).map((test) => test?.texts)).toEqual([
      ...[['A'], ['a', 'é', '7'], ['a'], ['a', 'true']],
    ])
  })

  it.each([
    ...[on('contains', '["a",""]'), on('semver_in', '["1.2.3"]'), on('semver_gt', '1.2.3-beta')],
    ...[on('contains', 'a'.repeat(257)), on('array_contains_all', '["a","b"]'), on('str_gt', 'a')],
    ...[on('array_contains_all', '[]'), on('array_contains_all', '[["a"]]'), on('in_ci', '["a"]')],
    on('array_contains_none', '["a","[1]"]'),
    { attribute: 'user.key', operator: 'in_bucket', value: '{"salt":"a","ranges":[]}' },
    { attribute: 'flag', operator: 'flag_is', value: 'on' },
    { attribute: '', operator: 'in_segment', value: '["a","b"]' },
    { attribute: '', operator: 'in_segment', value: '[]' },
    { attribute: '', operator: 'in_segment', value: 'a', negate: true },
    { attribute: '', operator: 'not_in_segment', value: 'a' },
    { attribute: '', operator: 'not_in_segment', value: 'a', negate: true },
  ])('The condition %j is evaluated separately', (definition) => {
    const { conditions, row } = rowOf([definition, on('eq', 'a')], 's')
    expect(row?.conditions).toEqual(conditions.slice(0, 1))
    expect(row?.tests).toHaveLength(1)
    expect(row?.segmentIds).toEqual(['s'])
  })

  it('Conditions on one segment and the segment of the rule are segments of the row', () => {
    const inSegment = (value: string) => ({ attribute: '', operator: 'in_segment', value })
    const { row } = rowOf([inSegment('a'), on('eq', 'x'), inSegment('["b"]')], 's')
    expect(row?.segmentIds).toEqual(['s', 'a', 'b'])
    expect(row?.conditions).toEqual([])
  })

  it('A rule with an invalid condition has no row', () => {
    for (const invalid of [on('unheard-of'), on('gt', 'one'), on('between', '[2,1]')]) {
      expect(rowOf([on('eq', 'a'), invalid]).row).toBeUndefined()
      expect(rowOf([{ ...invalid, negate: true }]).row).toBeUndefined()
    }
  })

  it('A rule without conditions has an empty row', () => {
    expect(rowOf([]).row).toEqual({ tests: [], conditions: [], segmentIds: [] })
  })
})

describe('sourceOf', () => {
  it('An attribute and the bucketing key of the same name are different sources', () => {
    const value = '{"salt":"a","ranges":[]}'
    const sources = [
      sourceOf(compileCondition({ attribute: 'user.key', operator: 'in_bucket', value })),
      sourceOf(compileCondition({ attribute: 'user.key', operator: 'eq', value: 'a' })),
      sourceOf(compileCondition({ attribute: 'flag', operator: 'flag_is', value: 'on' })),
    ]
    expect(sources.map((source) => source?.name)).toEqual([
      ...['bucketing key user.key', 'attribute user.key', undefined],
    ])
  })
})

describe('targetRow', () => {
  it('The row of a target tests the key of its kind for the listed texts', () => {
    const keys = ['a', 7, 'b'] as string[]
    const targets = [{ kind: 'company', keys, variationId: 'on' }]
    const { ordered } = compileFlagSet(flagSetDefinition([flagDefinition('f', { targets })]))
    const target = ordered[0]?.targets[0]
    const row = target && targetRow(target)
    expect(row?.tests).toEqual([
      {
        ...{ scale: undefined, search: undefined, texts: ['a', 'b'], ranges: [] },
        condition: undefined,
        ...{ isForOthers: false, isForMissing: false },
        source: { name: 'key of company', reference: undefined, isKey: false, kind: 'company' },
      },
    ])
    expect([row?.conditions, row?.segmentIds]).toEqual([[], []])
  })
})
