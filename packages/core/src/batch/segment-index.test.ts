import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { evaluateAll, valuesOf } from '../all-flags.ts'
import { evaluateValue } from '../evaluation/evaluate.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { SegmentDefinition } from '../model/definition.ts'
import { ruleMatrixOf } from './batch-cache.ts'

const IDS = Array.from({ length: 40 }, (_, number) => `segment-${number}`)

const anyText = fc.constantFrom('a', 'b', 'c')
const anyCondition = fc.oneof(
  fc.record({
    attribute: fc.constantFrom('plan', 'country', 'key'),
    operator: fc.constantFrom('eq', 'neq', 'exists', 'not_exists', 'contains', 'unheard-of'),
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
    evaluateAll(previous, {}, 0)
    for (const segments of fc.sample(anySegments, { seed: 2, numRuns: 20 })) {
      const definition = { ...flagSetDefinition(FLAGS), segments }
      const flagSet = compileFlagSet(definition, { previous })
      previous = flagSet
      for (const context of contexts) {
        const alone = IDS.map((id) => [id, evaluateValue(flagSet, id, context, 0)])
        const together = valuesOf(evaluateAll(flagSet, context, 0))
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
    expect(index.attributes).toHaveLength(1)
    expect(ruleMatrixOf(compiled([one, { ...other }])).segments.index).toBe(index)
    expect(ruleMatrixOf(compiled([one, { ...other, logicalOp: 'NOT' }])).segments.index).not.toBe(
      index,
    )
  })
})
