import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { anyChange, anyNow } from '../../test/definition-arbitraries.ts'
import { detailsOf, reasonAt, valuesOf } from '../all-flags.ts'
import { findIssues } from '../authoring/issues.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import { ConditionCompiler } from '../operators/condition.ts'
import { compileFlagSet, type FlagSet } from './flag-set.ts'

/** Returns everything that a flag set contains, except the compiled definitions. */
function structureOf(flagSet: FlagSet) {
  const { version, flags, flagsById, segments, ordered, ...rest } = flagSet
  return {
    ...{ version, timestamps: rest.timestamps, dependencies: rest.dependencies },
    malformed: [...rest.malformed],
    flags: [...flags].map(([key, { definition }]) => [key, definition]),
    flagsById: new Map(Array.from(flagsById, ([id, { key }]) => [id, key])),
    ordered: ordered.map(({ key }) => key),
    segments: [...segments].map(([id, { definition }]) => [id, definition]),
  }
}

describe('compileFlagSet', () => {
  it('compileFlagSet returns the same flag set with and without a previous one', () => {
    fc.assert(
      fc.property(anyChange, anyContext, anyNow, ([before, after], context, now) => {
        const full = compileFlagSet(after)
        const previous = compileFlagSet(before)
        // The evaluation fills the caches that the next version reuses.
        evaluateTogether(previous, context, now)
        const incremental = compileFlagSet(after, { previous })
        expect(findIssues(incremental)).toEqual(findIssues(full))
        expect(structureOf(incremental)).toEqual(structureOf(full))
        expect(detailsOf(evaluateTogether(incremental, context, now))).toEqual(
          detailsOf(evaluateTogether(full, context, now)),
        )
      }),
      { numRuns: runs(200) },
    )
  })

  it('A flag set that shares a compiler with another one has the same results as alone', () => {
    fc.assert(
      fc.property(anyChange, anyContext, anyNow, ([other, definition], context, now) => {
        const compiler = new ConditionCompiler({})
        evaluateTogether(compileFlagSet(other, { compiler }), context, now)
        const shared = compileFlagSet(definition, { compiler })
        const alone = compileFlagSet(definition)
        expect(findIssues(shared)).toEqual(findIssues(alone))
        expect(detailsOf(evaluateTogether(shared, context, now))).toEqual(
          detailsOf(evaluateTogether(alone, context, now)),
        )
      }),
      { numRuns: runs(200) },
    )
  })

  it('A flag set after any number of changes has the same results as one without a previous version', () => {
    fc.assert(
      fc.property(anyChange, anyContext, anyNow, ([before, after], context, now) => {
        let flagSet = compileFlagSet(before)
        valuesOf(evaluateTogether(flagSet, context, now))
        for (const definition of [after, before, { ...after, flags: after.flags.slice(1) }]) {
          flagSet = compileFlagSet(definition, { previous: flagSet })
          const given = evaluateTogether(flagSet, context, now)
          const expected = evaluateTogether(compileFlagSet(definition), context, now)
          expect(valuesOf(given)).toEqual(valuesOf(expected))
          expect(given.flags.map((_, index) => reasonAt(given, index))).toEqual(
            expected.flags.map((_, index) => reasonAt(expected, index)),
          )
        }
      }),
      { numRuns: runs(200) },
    )
  })

  it('findIssues reports every flag that has the reason ERROR', () => {
    fc.assert(
      fc.property(anyChange, anyContext, anyNow, ([definition], context, now) => {
        const flagSet = compileFlagSet(definition)
        const broken = new Set(findIssues(flagSet).map(({ flagKey }) => flagKey))
        for (const { flagKey, reason } of detailsOf(evaluateTogether(flagSet, context, now))) {
          if (reason === 'ERROR') expect(broken).toContain(flagKey)
        }
      }),
      { numRuns: runs(200) },
    )
  })
})
