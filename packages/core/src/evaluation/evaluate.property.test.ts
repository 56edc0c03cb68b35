import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { deepFreeze } from '../../test/deep-freeze.ts'
import { anyDefinition, anyNow, anyPoison } from '../../test/definition-arbitraries.ts'
import { detailsOf, evaluateSome, jsonOf, valuesOf } from '../all-flags.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import { parseContext } from '../model/context.ts'
import { evaluateCode, evaluateFlag } from './evaluate.ts'
import { compileFlagSet } from './flag-set.ts'
import { outcomeCodeOf } from './outcome.ts'

describe('Evaluation of any definition for any context', () => {
  it('Every evaluation returns a valid result, is repeatable and modifies no input', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, (definition, context, now) => {
        deepFreeze(definition)
        parseContext(deepFreeze(context))
        const first = detailsOf(evaluateTogether(compileFlagSet(definition), context, now))
        const again = detailsOf(evaluateTogether(compileFlagSet(definition), context, now))
        expect(first.map(({ flagKey }) => flagKey).sort()).toEqual(
          definition.flags.map(({ key }) => key).sort(),
        )
        expect(again).toEqual(first)
      }),
      { numRuns: runs(10_000) },
    )
  })

  it('Evaluation never throws, even for a definition that does not have the declared shape', () => {
    fc.assert(
      fc.property(anyPoison, anyContext, anyNow, (definition, context, now) => {
        const evaluation = evaluateTogether(compileFlagSet(definition), context, now)
        expect(JSON.parse(jsonOf(evaluation))).toEqual({ ...valuesOf(evaluation) })
      }),
      { numRuns: runs(800) },
    )
  })

  it('evaluateFlag, evaluateCode, evaluateSome and evaluateTogether return the same results', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, fc.nat(), (definition, context, now, pick) => {
        const flagSet = compileFlagSet(definition)
        const all = detailsOf(evaluateTogether(flagSet, context, now))
        for (const detail of all) {
          expect(evaluateFlag(flagSet, detail.flagKey, context, now)).toEqual(detail)
          const flag = flagSet.flags.get(detail.flagKey)
          if (flag === undefined) throw new Error('the flag set must contain its flags')
          expect(outcomeCodeOf(flag, detail)).toBe(evaluateCode(flagSet, flag, context, now))
        }
        const chosen = all.filter((_, index) => ((pick >> index) & 1) === 1)
        const keys = chosen.map(({ flagKey }) => flagKey).reverse()
        expect(
          detailsOf(evaluateSome(flagSet, [...keys, 'unknown', ...keys], context, now)),
        ).toEqual(chosen)
      }),
      { numRuns: runs(300) },
    )
  })

  it('The values, the JSON text and the details of an evaluation have the same results', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, (definition, context, now) => {
        const evaluation = evaluateTogether(compileFlagSet(definition), context, now)
        const values = valuesOf(evaluation)
        expect(JSON.parse(jsonOf(evaluation))).toEqual(JSON.parse(JSON.stringify(values)))
        expect(detailsOf(evaluation).map(({ flagKey, value }) => [flagKey, value])).toEqual(
          evaluation.flags.map(({ key }) => [key, values[key]]),
        )
      }),
      { numRuns: runs(300) },
    )
  })

  it('The empty context receives only defaults', () => {
    fc.assert(
      fc.property(anyDefinition, anyNow, (definition, now) => {
        for (const detail of detailsOf(evaluateTogether(compileFlagSet(definition), {}, now))) {
          expect(['STATIC', 'DEFAULT', 'DISABLED', 'ERROR']).toContain(detail.reason)
          expect(detail).not.toHaveProperty('ruleId')
        }
      }),
      { numRuns: runs(300) },
    )
  })
})
