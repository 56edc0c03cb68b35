import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { valuesOf } from '../all-flags.ts'
import { evaluateValue } from '../evaluation/evaluate.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { SegmentDefinition } from '../model/definition.ts'
import { ruleMatrixOf } from './batch-cache.ts'
import { evaluateTogether } from './evaluate-all.ts'

const IDS = Array.from({ length: 40 }, (_, number) => `segment-${number}`)

const anyText = fc.constantFrom('a', 'b', 'c')
const anyCondition = fc.oneof(
  fc.record({
    attribute: fc.constantFrom('plan', 'country', 'key'),
    operator: fc.constantFrom(
      'eq',
      'neq',
      'exists',
      'not_exists',
      'contains',
      'str_gt',
      'unheard-of',
    ),
    value: anyText,
    negate: fc.boolean(),
  }),
  fc.record({
    attribute: fc.constantFrom('plan', 'country'),
    operator: fc.constantFrom('in', 'not_in'),
    value: fc.oneof(
      fc.subarray(['a', 'b', 'c']).map((texts) => JSON.stringify(texts)),
      anyText,
    ),
  }),
)

const anySegment = fc.record({
  rules: fc.array(anyCondition, { maxLength: 3 }),
  logicalOp: fc.constantFrom('AND', 'OR', 'NOT', 'XOR'),
  force: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
  included: fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, fc.constant(['a'])),
  excluded: fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, fc.constant(['b'])),
}) as fc.Arbitrary<Partial<SegmentDefinition>>

const anySegments = fc
  .array(anySegment, { minLength: IDS.length, maxLength: IDS.length })
  .map((all) => all.map((segment, number) => segmentDefinition(IDS[number] ?? '', segment)))

const anyValue = fc.oneof(anyText, fc.constantFrom(['a', 'c'], { a: 1 }, null, 7, true))
const anyContext = fc.oneof(
  fc.record({ kind: fc.constant('user'), key: anyText, plan: anyValue, country: anyValue }),
  fc.record({ kind: fc.constant('user'), key: anyText }),
  fc.record({ kind: fc.constant('multi'), user: fc.record({ key: anyText, plan: anyValue }) }),
  fc.constant({}),
) as fc.Arbitrary<EvaluationContext>

/** One flag for each segment. It is on for the contexts that the segment matches. */
const FLAGS = IDS.map((id) => flagDefinition(id, { rules: [ruleDefinition({ segmentId: id })] }))

describe('indexSegments', () => {
  it('Segments that are evaluated together match the same contexts as single segments, after any change', () => {
    const contexts = fc.sample(anyContext, { seed: 1, numRuns: 30 })
    let previous = compileFlagSet(flagSetDefinition(FLAGS))
    evaluateTogether(previous, {}, 0)
    for (const segments of fc.sample(anySegments, { seed: 2, numRuns: 20 })) {
      const definition = { ...flagSetDefinition(FLAGS), segments }
      const flagSet = compileFlagSet(definition, { previous })
      previous = flagSet
      for (const context of contexts) {
        const alone = IDS.map((id) => [id, evaluateValue(flagSet, id, context, 0)])
        const together = valuesOf(evaluateTogether(flagSet, context, 0))
        expect({ ...together }).toEqual(Object.fromEntries(alone))
      }
    }
  })

  it('The segment index is rebuilt only if one of its segments has changed', () => {
    const rules = [{ attribute: 'plan', operator: 'eq', value: 'pro' }]
    const [one, other] = [
      segmentDefinition('one', { rules }),
      segmentDefinition('other', { rules }),
    ]
    const flags = ['one', 'other'].map((segmentId) => {
      return flagDefinition(segmentId, { rules: [ruleDefinition({ segmentId })] })
    })
    const compiled = (segments: readonly SegmentDefinition[]) => {
      return compileFlagSet({ ...flagSetDefinition(flags), segments }, { previous: first })
    }
    const first = compileFlagSet({ ...flagSetDefinition(flags), segments: [one, other] })
    const { index } = ruleMatrixOf(first).segments
    expect(index.values).toHaveLength(1)
    expect(ruleMatrixOf(compiled([one, { ...other }])).segments.index).toBe(index)
    expect(ruleMatrixOf(compiled([one, { ...other, logicalOp: 'NOT' }])).segments.index).not.toBe(
      index,
    )
  })

  const isPlan = (value: string) => ({ attribute: 'plan', operator: 'eq', value })
  const isUpToA = { attribute: 'plan', operator: 'str_lte', value: 'a' }

  /** Compiles flags that each require one segment. */
  const requiring = (
    segments: readonly SegmentDefinition[],
    ids = segments.map(({ id }) => id),
    previous?: FlagSet,
  ) => {
    const flags = ids.map((segmentId) => {
      return flagDefinition(segmentId, { rules: [ruleDefinition({ segmentId })] })
    })
    return compileFlagSet(flagSetDefinition(flags, segments), { previous })
  }

  const isIn = (id: string) => ({ attribute: '', operator: 'in_segment', value: `["${id}"]` })
  const LISTED = ['user-1', 'user-2']
  const isOneOf = { attribute: '', operator: 'in_segment', value: '["before","none"]' }
  const isNotIn = { attribute: '', operator: 'not_in_segment', value: '["before"]' }

  it.each<[name: string, rows: number, changes: Partial<SegmentDefinition>]>([
    ['the operator AND', 1, { rules: [isPlan('a'), isPlan('b')] }],
    ['the operator OR', 2, { rules: [isPlan('a'), isPlan('b')], logicalOp: 'OR' }],
    ['the operator NOT', 0, { rules: [isPlan('a'), isPlan('b')], logicalOp: 'NOT' }],
    ['an unknown operator', 0, { rules: [isPlan('a')], logicalOp: 'XOR' as 'OR' }],
    ['no conditions', 0, { rules: [] }],
    ['`force`', 1, { rules: [isPlan('a')], force: true }],
    ['`force` and the operator NOT', 1, { rules: [isPlan('a')], force: true, logicalOp: 'NOT' }],
    ['included keys', 1, { rules: [isPlan('a')], included: ['user-1'] }],
    ['excluded keys', 1, { rules: [isPlan('a')], excluded: ['user-1'] }],
    ['a key in both lists', 1, { rules: [isPlan('a')], included: LISTED, excluded: ['user-1'] }],
    ['a condition without a test', 2, { rules: [isPlan('b'), isUpToA], logicalOp: 'OR' }],
    ['a condition on a segment', 1, { rules: [isPlan('a'), isIn('before')] }],
    ['a condition on two segments', 2, { rules: [isPlan('b'), isOneOf], logicalOp: 'OR' }],
    ['a negative condition on a segment', 1, { rules: [isPlan('a'), isNotIn] }],
    ['an invalid condition', 0, { rules: [isPlan('a'), { ...isUpToA, operator: 'unheard-of' }] }],
  ])('A segment with %s has %d rule rows', (_, rows, changes) => {
    const before = segmentDefinition('before', { rules: [isPlan('a')] })
    const segments = [before, segmentDefinition('tested', changes), segmentDefinition('none')]
    const flagSet = requiring(segments, ['before', 'tested'])
    const bits = Array.from({ length: rows }, (_each, at) => 2 << at)
    const pairs = rows === 0 ? [0] : [1, 0, bits.reduce((sum, bit) => sum | bit, 0)]
    const [first, tested] = ruleMatrixOf(flagSet).segments.segments
    expect([...(first?.rows ?? [])]).toEqual([1, 0, 1])
    expect([...(tested?.rows ?? [])]).toEqual(pairs)
    expect(tested?.isSeparate).toBe(changes.logicalOp === 'NOT' && changes.force !== true)
    for (const plan of ['a', 'b', 'c']) {
      for (const key of ['user-1', 'user-2']) {
        const context = { kind: 'user', key, plan }
        expect(valuesOf(evaluateTogether(flagSet, context, 0))['tested']).toBe(
          evaluateValue(flagSet, 'tested', context, 0),
        )
      }
    }
  })

  it('The segment index contains the segments that other segments require, and the parts that decide them', () => {
    const segments = [
      segmentDefinition('outer', { rules: [isIn('middle'), isUpToA, isUpToA] }),
      segmentDefinition('middle', {
        rules: [isIn('inner'), isIn('last'), isUpToA],
        logicalOp: 'OR',
        included: ['user-1'],
      }),
      segmentDefinition('inner', { rules: [isPlan('a')], keyAttribute: 'plan', excluded: ['x'] }),
      segmentDefinition('last', { force: true }),
      segmentDefinition('unused', { force: true }),
    ]
    const { segments: indexed } = ruleMatrixOf(requiring(segments, ['outer']))
    expect(indexed.ids).toEqual(['outer', 'middle', 'inner', 'last'])
    expect(indexed.segments.map(({ segment }) => segment?.definition.id)).toEqual(indexed.ids)
    expect(indexed.segments.map(({ keys }) => keys?.name)).toEqual([
      ...[undefined, 'attribute user.key', 'attribute plan', undefined],
    ])
    expect(indexed.index.segmentIds).toEqual(['middle', 'inner', 'last'])
    // A set of one word takes three numbers.
    const ofMiddle = [
      { slot: 2, place: 3 },
      { slot: 3, place: 6 },
    ]
    expect(indexed.segments.map(({ required }) => required)).toEqual([
      ...[[{ slot: 1, place: 0 }], ofMiddle, [], []],
    ])
    expect(indexed.segments.map(({ conditions }) => conditions)).toEqual([[0], [0], [], []])
    expect(indexed.segments.map(({ values }) => values)).toEqual([[], [], [0], []])
  })

  it('The segment index is rebuilt if rules require another list of segments', () => {
    const segments = ['a', 'b', 'c'].map((id) => segmentDefinition(id, { rules: [isPlan(id)] }))
    const lists = [['a', 'b'], ['a', 'b', 'c'], ['a'], ['b', 'c'], ['a', 'absent'], []]
    for (const ids of lists) {
      const first = requiring(segments, ['a', 'b'])
      const { index } = ruleMatrixOf(first).segments
      const second = requiring(segments, ids, first)
      const isSame = ids.join() === 'a,b'
      expect([ids, ruleMatrixOf(second).segments.index === index]).toEqual([ids, isSame])
      for (const plan of ['a', 'b', 'c']) {
        const values = valuesOf(evaluateTogether(second, { kind: 'user', key: 'user-1', plan }, 0))
        expect({ ...values }).toEqual(Object.fromEntries(ids.map((id) => [id, id === plan])))
      }
    }
  })
})
