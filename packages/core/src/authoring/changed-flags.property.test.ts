import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { anyChange, anyNow } from '../../test/definition-arbitraries.ts'
import { detailsOf } from '../all-flags.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import { changedFlags } from './changed-flags.ts'

describe('changedFlags', () => {
  it('changedFlags omits only flags that have the same result for every context', () => {
    fc.assert(
      fc.property(anyChange, anyContext, anyNow, ([old, fresh], context, now) => {
        const before = compileFlagSet(old)
        const after = compileFlagSet(fresh)
        const changed = new Set(changedFlags(before, after))
        const unchanged = (flagSet: typeof before) => {
          const details = detailsOf(evaluateTogether(flagSet, context, now))
          return details.filter(({ flagKey }) => !changed.has(flagKey))
        }
        expect(unchanged(after)).toEqual(unchanged(before))
      }),
      { numRuns: runs(250) },
    )
  })

  it('changedFlags returns the same flags whether or not compiled definitions were reused', () => {
    fc.assert(
      fc.property(anyChange, ([old, fresh]) => {
        const before = compileFlagSet(old)
        expect(changedFlags(before, compileFlagSet(fresh, { previous: before }))).toEqual(
          changedFlags(before, compileFlagSet(fresh)),
        )
      }),
      { numRuns: runs(300) },
    )
  })
})
