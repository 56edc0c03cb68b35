import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyContext, anyDefinition, anyNow, anyPoison } from '../test/arbitraries.ts'
import { referenceAnswers } from '../test/reference.ts'
import { detailsOf, evaluateAll, jsonOf, reasonAt, valuesOf, variationAt } from './evaluate.ts'
import { compileFlagSet } from './flag-set.ts'

/** Always the same, so that whoever plants a fault learns the same thing twice. */
const SAMPLE = { seed: 7, numRuns: 80 }

describe('evaluating a fixed sample of definitions', () => {
  it('gives every flag the answer that the rules, followed word by word, give it', () => {
    for (const [definition, requests] of fc.sample(
      fc.tuple(anyDefinition, fc.array(fc.tuple(anyContext, anyNow), { minLength: 3 })),
      SAMPLE,
    )) {
      const flagSet = compileFlagSet(definition)
      for (const [context, now] of requests) {
        const expected = referenceAnswers(definition, context, now)
        const evaluation = evaluateAll(flagSet, context, now)
        const given = evaluation.flags.map(({ key }, index) => {
          const variation = variationAt(evaluation, index)
          const variationId = variation?.id ?? null
          return [
            key,
            { value: variation?.value ?? null, variationId, reason: reasonAt(evaluation, index) },
          ]
        })
        expect(new Map(given as [string, unknown][])).toEqual(expected)
      }
    }
  })

  it('names the rule, the segment and the rollout that an answer comes from', () => {
    for (const [definition, context, now] of fc.sample(
      fc.tuple(anyDefinition, anyContext, anyNow),
      SAMPLE,
    )) {
      const evaluation = evaluateAll(compileFlagSet(definition), context, now)
      for (const { flagKey, ruleId, segmentId = null, rolloutId = null } of detailsOf(evaluation)) {
        const rules = definition.flags.find(({ key }) => key === flagKey)?.rules ?? []
        const named = rules.filter(({ id }) => id === ruleId)
        expect(named.length > 0).toBe(ruleId !== undefined)
        if (ruleId === undefined) expect([segmentId, rolloutId]).toEqual([null, null])
        else {
          expect(named.map((rule) => [rule.segmentId, rule.rolloutId])).toContainEqual([
            segmentId,
            rolloutId,
          ])
        }
      }
    }
  })

  it('answers for definitions of any shape', () => {
    for (const [definition, context, now] of fc.sample(
      fc.tuple(anyPoison, anyContext, anyNow),
      SAMPLE,
    )) {
      const evaluation = evaluateAll(compileFlagSet(definition), context, now)
      expect(JSON.parse(jsonOf(evaluation))).toEqual({ ...valuesOf(evaluation) })
    }
  })
})
