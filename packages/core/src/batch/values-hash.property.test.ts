import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { anyChange, anyDefinition, anyNow } from '../../test/definition-arbitraries.ts'
import { jsonOf, onlyFlags } from '../all-flags.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import { evaluateTogether } from './evaluate-all.ts'
import { valuesHash } from './values-hash.ts'

describe('valuesHash', () => {
  it('valuesHash returns the same 32 lower-case hex digits for equal values of different flag sets', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, (definition, context, now) => {
        const [here, elsewhere] = [definition, structuredClone(definition)].map((each) => {
          return valuesHash(evaluateTogether(compileFlagSet(each), context, now))
        })
        expect(here).toMatch(/^[0-9a-f]{32}$/)
        expect(elsewhere).toBe(here)
      }),
      { numRuns: runs(100) },
    )
  })

  it('valuesHash differs between versions and contexts if and only if the values differ', () => {
    fc.assert(
      fc.property(anyChange, anyContext, anyContext, anyNow, (change, left, right, now) => {
        const [before, after] = change
        const first = compileFlagSet(before)
        valuesHash(evaluateTogether(first, left, now))
        const second = compileFlagSet(after, { previous: first })
        const answers = [first, second].flatMap((flagSet) =>
          [left, right].map((context) => evaluateTogether(flagSet, context, now)),
        )
        for (const one of answers) {
          for (const other of answers) {
            expect(valuesHash(one) === valuesHash(other)).toBe(jsonOf(one) === jsonOf(other))
          }
        }
      }),
      { numRuns: runs(100) },
    )
  })

  it('valuesHash depends only on the evaluated flags', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, (definition, context, now) => {
        const all = evaluateTogether(compileFlagSet(definition), context, now)
        expect(valuesHash(onlyFlags(all, () => true))).toBe(valuesHash(all))
        expect(valuesHash(onlyFlags(all, () => false))).toBe('0'.repeat(32))
      }),
      { numRuns: runs(100) },
    )
  })
})
