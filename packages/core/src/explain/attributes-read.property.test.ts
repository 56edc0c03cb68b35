import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { deepFreeze } from '../../test/deep-freeze.ts'
import { anyDefinition, anyNow } from '../../test/definition-arbitraries.ts'
import { detailsOf } from '../all-flags.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import { contextFingerprint } from '../fingerprint.ts'
import { parseContext } from '../model/context.ts'
import { minimalContext } from './attributes-read.ts'

describe('minimalContext', () => {
  it('Every flag has the same result for a minimal context, and a minimal context cannot be reduced further', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, (definition, context, now) => {
        const flagSet = compileFlagSet(definition)
        const minimal = minimalContext(flagSet, deepFreeze(context))
        parseContext(minimal)
        const details = detailsOf(evaluateTogether(flagSet, context, now))
        expect(detailsOf(evaluateTogether(flagSet, minimal, now))).toEqual(details)
        const again = minimalContext(flagSet, minimal)
        expect(contextFingerprint(again)).toBe(contextFingerprint(minimal))
      }),
      { numRuns: runs(600) },
    )
  })
})
