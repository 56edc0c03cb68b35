import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { anyDefinition, anyNow } from '../../test/definition-arbitraries.ts'
import { detailsOf, jsonOf } from '../all-flags.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import { compileFlagSet } from './flag-set.ts'
import { changedByGradualRollouts, stepAt } from './schedule.ts'

describe('stepAt', () => {
  it('All results stay the same while stepAt returns the same number', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, anyNow, (definition, context, one, other) => {
        const random = compileFlagSet(definition)
        if (stepAt(random, one) !== stepAt(random, other)) return
        expect(detailsOf(evaluateTogether(random, context, one))).toEqual(
          detailsOf(evaluateTogether(random, context, other)),
        )
      }),
      { numRuns: runs(250) },
    )
  })
})

describe('changedByGradualRollouts', () => {
  it('changedByGradualRollouts omits only flags that have the same results at both timestamps', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, anyNow, (definition, context, one, other) => {
        const random = compileFlagSet(definition)
        const stepping = new Set(changedByGradualRollouts(random, one, other))
        const others = (now: number) =>
          detailsOf(evaluateTogether(random, context, now)).filter(
            ({ flagKey }) => !stepping.has(flagKey),
          )
        expect(others(other)).toEqual(others(one))
        if (stepping.size === 0) {
          expect(jsonOf(evaluateTogether(random, context, other))).toBe(
            jsonOf(evaluateTogether(random, context, one)),
          )
        }
      }),
      { numRuns: runs(250) },
    )
  })
})
