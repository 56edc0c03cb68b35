import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { anyDefinition, anyNow } from '../../test/definition-arbitraries.ts'
import { referenceAnswers } from '../../test/reference.ts'
import { detailsOf, evaluateSome, jsonOf, valuesOf } from '../all-flags.ts'
import { evaluateValue } from '../evaluation/evaluate.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import { evaluateTogether } from './evaluate-all.ts'

const answers = fc.array(fc.record({ context: anyContext, now: anyNow }), {
  minLength: 5,
  maxLength: 5,
})

describe('evaluateTogether', () => {
  it('evaluateTogether returns the same results as the reference implementation for any definition', () => {
    fc.assert(
      fc.property(anyDefinition, answers, (definition, requests) => {
        const flagSet = compileFlagSet(definition)
        for (const { context, now } of requests) {
          const expected = referenceAnswers(definition, context, now)
          const evaluation = evaluateTogether(flagSet, context, now)
          const given = detailsOf(evaluation).map(({ flagKey, value, variationId, reason }) => {
            return [flagKey, { value, variationId, reason }] as const
          })
          expect(new Map(given)).toEqual(expected)
          const values = valuesOf(evaluation)
          expect(JSON.parse(jsonOf(evaluation))).toEqual(JSON.parse(JSON.stringify(values)))
          const some = valuesOf(evaluateSome(flagSet, expected.keys(), context, now))
          expect({ ...some }).toEqual({ ...values })
          for (const [key, { value }] of expected) {
            expect(values[key]).toEqual(value)
            expect(evaluateValue(flagSet, key, context, now)).toBe(values[key])
          }
        }
      }),
      { numRuns: runs(2_000) },
    )
  })
})
