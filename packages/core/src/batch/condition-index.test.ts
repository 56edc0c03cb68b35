import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
  withRule,
} from '../../test/definitions.ts'
import { valuesOf } from '../all-flags.ts'
import { evaluateValue } from '../evaluation/evaluate.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { ConditionDefinition } from '../model/definition.ts'
import { compileCondition } from '../operators/condition.ts'
import { indexRuleRows } from './condition-index.ts'
import { evaluateTogether } from './evaluate-all.ts'
import { conditionsRow, type RuleRow } from './rule-row.ts'

function onPlan(operator: string, value = '', negate = false): ConditionDefinition {
  return { attribute: 'plan', operator, value, negate }
}

function contextOf(plan: unknown, key = 'user-1'): EvaluationContext {
  const context = { kind: 'user', key, ...(plan === undefined ? {} : { plan }) }
  return context as EvaluationContext
}

/** Evaluates all flags of a flag set one by one. */
function valuesAlone(flagSet: FlagSet, context: EvaluationContext): Record<string, unknown> {
  const alone = flagSet.ordered.map(({ key }) => [key, evaluateValue(flagSet, key, context, 0)])
  return Object.fromEntries(alone)
}

const CONDITIONS: readonly ConditionDefinition[] = [
  ...[onPlan('eq', 'a'), onPlan('eq', 'a', true), onPlan('neq', 'b'), onPlan('neq', 'b', true)],
  ...[onPlan('in', '["a","b"]'), onPlan('not_in', '["b","c"]'), onPlan('in', '["b"]', true)],
  ...[onPlan('in', '["a",["b"]]'), onPlan('not_in', '[{"a":1},"a"]'), onPlan('in', '[]')],
  ...[onPlan('exists'), onPlan('not_exists'), onPlan('exists', '', true)],
  ...[onPlan('contains', 'b'), onPlan('not_in', 'b'), onPlan('eq', '7'), onPlan('unheard-of', 'a')],
  ...[onPlan('not_ends_with', '["a","b"]'), onPlan('str_gt', 'a'), onPlan('contains', 'a', true)],
  ...[onPlan('array_contains_all', 'a'), onPlan('array_contains_none', '["b","c"]')],
]

const PLANS: readonly unknown[] = [
  ...['a', 'b', 'c', 'd', '', 7, true, null, undefined],
  ...[[], ['a'], ['b', 'c'], ['a', 'b'], [['b']], [7], { a: 1 }, {}, [{ a: 1 }], [null, 'a']],
]

describe('indexRuleRows', () => {
  it('A rule with two conditions on one attribute matches the same values as without the index', () => {
    const flags = CONDITIONS.flatMap((first, left) => {
      return CONDITIONS.map((second, right) => withRule(`${left}-${right}`, first, second))
    })
    const flagSet = compileFlagSet(flagSetDefinition(flags))
    for (const plan of PLANS) {
      const context = contextOf(plan)
      const together = { ...valuesOf(evaluateTogether(flagSet, context, 0)) }
      expect([plan, together]).toEqual([plan, valuesAlone(flagSet, context)])
    }
  })

  it('Rules with three contradicting or overlapping conditions match the same values as without the index', () => {
    const flagSet = compileFlagSet(
      flagSetDefinition([
        withRule('contradiction', onPlan('eq', 'a'), onPlan('eq', 'b'), onPlan('exists')),
        withRule('overlap', onPlan('in', '["a","b"]'), onPlan('neq', 'b'), onPlan('neq', 'c')),
        withRule('not listed', onPlan('neq', 'a'), onPlan('neq', 'b'), onPlan('not_in', '["c"]')),
        withRule('missing', onPlan('not_exists'), onPlan('neq', 'a'), onPlan('neq', 'b')),
      ]),
    )
    const served = (plan: unknown) => {
      const values = valuesOf(evaluateTogether(flagSet, contextOf(plan), 0))
      return Object.keys(values).filter((key) => values[key] === true)
    }
    expect(served('a')).toEqual(['overlap'])
    expect(served('b')).toEqual([])
    expect(served('c')).toEqual([])
    expect(served('d')).toEqual(['not listed'])
    for (const plan of PLANS) {
      const context = contextOf(plan)
      expect({ ...valuesOf(evaluateTogether(flagSet, context, 0)) }).toEqual(
        valuesAlone(flagSet, context),
      )
    }
  })

  it.each([1, 2, 3, 4, 5, 6, 7])('Conditions on %d attributes must all match', (count) => {
    const names = Array.from({ length: count }, (_, at) => `attribute-${at}`)
    const conditions = names.map((attribute) => ({ attribute, operator: 'eq', value: 'yes' }))
    const alone = conditions.map((condition, at) => withRule(`alone-${at}`, condition))
    const flagSet = compileFlagSet(flagSetDefinition([withRule('all', ...conditions), ...alone]))
    const served = (other: string | undefined) => {
      const attributes = names.map((name) => [name, name === other ? 'no' : 'yes'])
      const context = { kind: 'user', key: 'user-1', ...Object.fromEntries(attributes) }
      return { ...valuesOf(evaluateTogether(flagSet, context, 0)) }
    }
    const every = Object.fromEntries(names.map((_, at) => [`alone-${at}`, true]))
    expect(served(undefined)).toEqual({ ...every, all: true })
    for (const [at, name] of names.entries()) {
      expect(served(name)).toEqual({ ...every, all: false, [`alone-${at}`]: false })
    }
  })

  it('Each of 500 rare values matches exactly its own rule', () => {
    const plans = Array.from({ length: 500 }, (_, at) => `plan-${at}`)
    const flagSet = compileFlagSet(
      flagSetDefinition(plans.map((plan) => withRule(plan, onPlan('eq', plan)))),
    )
    for (const plan of plans) {
      const values = Object.entries(valuesOf(evaluateTogether(flagSet, contextOf(plan), 0)))
      expect(values.filter(([, value]) => value).map(([key]) => key)).toEqual([plan])
    }
  })

  it('An evaluation does not depend on the attributes of earlier contexts', () => {
    const names = ['a', 'b', 'c', 'd']
    const flags = names.flatMap((attribute) => [
      withRule(`${attribute} eq`, { attribute, operator: 'eq', value: 'x' }),
      withRule(`${attribute} missing`, { attribute, operator: 'not_exists', value: '' }),
      withRule(`${attribute} contains`, { attribute, operator: 'contains', value: 'x' }),
      withRule(`${attribute} after`, { attribute, operator: 'str_gte', value: 'x' }),
    ])
    const flagSet = compileFlagSet(flagSetDefinition(flags))
    const contexts = [['a', 'b', 'c', 'd'], ['a'], ['d', 'c'], [], ['b']].map((present) => {
      const attributes = present.map((name, at) => [name, at % 2 === 0 ? 'x' : ['x']])
      return { kind: 'user', key: 'user-1', ...Object.fromEntries(attributes) }
    })
    for (const context of [...contexts, ...contexts.toReversed()]) {
      expect({ ...valuesOf(evaluateTogether(flagSet, context, 0)) }).toEqual(
        valuesAlone(flagSet, context),
      )
    }
  })

  it('Many rules that require a segment, a condition or both match the same contexts as without the index', () => {
    const contains = (value: string) => onPlan('contains', value)
    const after = (value: string) => onPlan('str_gt', value)
    const segments = [
      segmentDefinition('indexed', { rules: [onPlan('in', '["a","ab"]')] }),
      segmentDefinition('separate', { rules: [after('a')], logicalOp: 'OR' }),
      segmentDefinition('listed', { rules: [onPlan('eq', 'c')], included: ['user-1'] }),
    ]
    const ids = ['indexed', 'separate', 'listed', 'absent']
    const rules = [
      ...ids.map((segmentId) => ruleDefinition({ segmentId })),
      ...ids.map((segmentId) => ruleDefinition({ segmentId, conditions: [contains('a')] })),
      ...ids.map((segmentId) => ruleDefinition({ segmentId, conditions: [after('a')] })),
      ruleDefinition({ conditions: [contains('a'), contains('b')] }),
      ruleDefinition({ conditions: [contains('b'), onPlan('neq', 'b')] }),
    ]
    const flags = Array.from({ length: 120 }, (_, at) => {
      const rule = rules[at % rules.length]
      return flagDefinition(`flag-${at}`, { rules: rule === undefined ? [] : [rule] })
    })
    const flagSet = compileFlagSet(flagSetDefinition(flags, segments))
    for (const plan of ['a', 'b', 'ab', 'c', undefined, ['a', 'b']]) {
      for (const key of ['user-1', 'user-2']) {
        const context = contextOf(plan, key)
        expect({ ...valuesOf(evaluateTogether(flagSet, context, 0)) }).toEqual(
          valuesAlone(flagSet, context),
        )
      }
    }
  })
})

/** Returns the row of a rule with these conditions. */
function rowOf(...definitions: readonly ConditionDefinition[]): RuleRow | undefined {
  const conditions = definitions.map((definition) => compileCondition(definition))
  return conditionsRow(conditions, definitions, null)
}

/** Returns the index of rule rows and the number of its interruptions. */
function indexOf(rows: readonly (RuleRow | undefined)[]) {
  const work = indexRuleRows(rows, (row) => row)
  for (let interruptions = 0; ; interruptions += 1) {
    const { done, value } = work.next()
    if (done === true) return { index: value, interruptions }
  }
}

function listOf(count: number, prefix: string): string {
  return JSON.stringify(Array.from({ length: count }, (_, at) => `${prefix}${at}`))
}

describe('The interruptions of indexRuleRows', () => {
  const same = rowOf(onPlan('eq', 'a'))
  const { interruptions: least } = indexOf([same])

  it.each([
    [128, 0],
    [129, 1],
    [256, 1],
    // One more chunk of 256 rows, and two more chunks of 128 rows with a test.
    [257, 3],
    [1024, 3 + 7],
  ])('indexRuleRows of %d rules has %d more interruptions than of one rule', (count, more) => {
    const rows = Array.from({ length: count }, () => same)
    expect(indexOf(rows).interruptions - least).toBe(more)
  })

  it('indexRuleRows is interrupted after every 4,096 texts of tests', () => {
    const list = (count: number, prefix: string) => rowOf(onPlan('in', listOf(count, prefix)))
    const few = [list(1, 'a'), list(1, 'b'), list(1, 'c')]
    const { interruptions } = indexOf(few)
    // The sets of 4,096 texts are also created without interruption.
    expect(indexOf([list(4_094, 'a'), list(1, 'b'), list(1, 'c')]).interruptions).toBe(
      interruptions,
    )
    // The rows are read in one loop, and the tests of each value are indexed in another.
    expect(indexOf([list(4_096, 'a'), list(1, 'a'), list(1, 'a')]).interruptions).toBe(
      interruptions + 2,
    )
    const { interruptions: fewest } = indexOf(few.slice(0, 2))
    expect(indexOf([list(4_096, 'a'), list(1, 'a')]).interruptions).toBe(fewest)
    // One more interruption because there are more than 4,096 sets.
    expect(indexOf([list(4_097, 'a'), list(1, 'a'), list(1, 'a')]).interruptions).toBe(
      interruptions + 3,
    )
  })

  it('indexRuleRows is interrupted after every 4,096 positions of tests', () => {
    const range = (at: number) => rowOf(onPlan('between', `[${2 * at},${2 * at}]`))
    // Each range has two limits: its start and the number after its end.
    const rows = Array.from({ length: 2_100 }, (_, at) => range(at))
    const same = Array.from({ length: 2_100 }, () => range(0))
    expect(indexOf(rows).interruptions).toBe(indexOf(same).interruptions + 1)
  })
})

describe('The parts of indexRuleRows', () => {
  it('Tests of the presence of an attribute are in the index of the attribute', () => {
    const { index } = indexOf([rowOf(onPlan('exists')), rowOf(onPlan('not_exists'))])
    expect(index.unindexed).toEqual([])
    expect(index.values.map(({ byText }) => byText.size)).toEqual([0])
  })

  it('Texts and each scale of an attribute have an index of their own', () => {
    const rows = [
      rowOf(onPlan('eq', 'a'), onPlan('gt', '1'), onPlan('lt', '9')),
      rowOf(onPlan('before', '2026-01-01T00:00:00Z'), onPlan('semver_gt', '1.0.0')),
      rowOf(onPlan('in_cidr', '10.0.0.0/8'), onPlan('gte', '2'), onPlan('exists')),
    ]
    const { index } = indexOf(rows)
    expect(index.unindexed).toEqual([])
    expect(index.values.map(({ scale }) => scale?.name)).toEqual([
      ...[undefined, 'number', 'timestamp', 'version', 'address'],
    ])
    expect(new Set(index.values.map(({ source }) => source.name))).toEqual(
      new Set(['attribute plan']),
    )
    // The set of all rows comes first, and room for one set comes last.
    expect(index.bits[0]).toBe(-1)
    expect([...index.bits.slice(index.room)]).toEqual([0])
  })

  it('Each kind of search in an attribute has an index of its own', () => {
    const rows = [
      rowOf(onPlan('contains', 'a'), onPlan('starts_with', 'a'), onPlan('eq', 'a')),
      rowOf(onPlan('not_contains', 'b'), onPlan('contains_ci', 'a')),
      rowOf(
        ...['a', 'b'].map((text) => onPlan('array_contains_all', text)),
        onPlan('array_contains_none', 'c'),
      ),
    ]
    const { index } = indexOf(rows)
    expect(index.unindexed).toEqual([])
    expect(index.values.map(({ searches }) => searches?.kind.name)).toEqual([
      ...['anywhere', 'start', undefined, 'anywhere, in lower case'],
      // The second and third test of a row are in other indexes.
      ...['element', 'element', 'element'],
    ])
    expect(index.values.map(({ rows: numbers }) => numbers)).toEqual([
      ...[[0, 1], [0], [0], [1], [2], [2], [2]],
    ])
  })

  it('An index of searches contains texts of about 8,192 units', () => {
    const text = (at: number) => `${at}`.padStart(64, '-')
    const rows = Array.from({ length: 300 }, (_, at) => rowOf(onPlan('contains', text(at))))
    const { index } = indexOf(rows)
    expect(index.values.map(({ rows: numbers }) => numbers.length)).toEqual([128, 128, 44])
    const same = indexOf(Array.from({ length: 300 }, () => rows[0])).index
    expect(same.values.map(({ rows: numbers }) => numbers.length)).toEqual([300])
    const flags = Array.from({ length: 300 }, (_, at) => {
      return withRule(`${at}`, onPlan('contains', text(at)))
    })
    const flagSet = compileFlagSet(flagSetDefinition(flags))
    for (const at of [0, 127, 128, 299]) {
      const values = valuesOf(evaluateTogether(flagSet, contextOf(`${text(at)}-`), 0))
      expect(Object.keys(values).filter((key) => values[key] === true)).toEqual([`${at}`])
    }
  })

  it('Equal conditions of several rules are evaluated once', () => {
    const after = rowOf(onPlan('str_gt', 'x'))
    const { unindexed } = indexOf([after, rowOf(onPlan('eq', 'a')), after]).index
    expect(unindexed.map(({ ruleRows }) => [...ruleRows])).toEqual([[1, 0, 0b101]])
    expect(unindexed.map(({ source }) => source?.name)).toEqual(['attribute plan'])
  })

  it('A rule that requires a segment twice is once in the set of the segment', () => {
    const row = (...segmentIds: string[]) => ({ tests: [], conditions: [], segmentIds })
    const { index } = indexOf([row('a'), row('b', 'b'), row('b', 'a', 'b')])
    expect(index.segmentIds).toEqual(['a', 'b'])
    expect([...index.rowsBySegment]).toEqual([...[1, 0, 0b101], ...[1, 0, 0b110]])
  })

  it('Rows that can never match are not in the set of possible rows', () => {
    const never = rowOf(onPlan('eq', 'a'), onPlan('unheard-of', 'a'))
    const { index } = indexOf([undefined, rowOf(onPlan('eq', 'a')), never, rowOf()])
    expect([...index.possible]).toEqual([0b1010])
    expect(index.words).toBe(1)
    expect(index.values).toHaveLength(1)
  })
})
