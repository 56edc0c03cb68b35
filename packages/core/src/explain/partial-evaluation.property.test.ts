import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { deepFreeze } from '../../test/deep-freeze.ts'
import { anyDefinition, anyNow } from '../../test/definition-arbitraries.ts'
import { evaluateFlag } from '../evaluation/evaluate.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import {
  attributesRead,
  attributesReadBy,
  knownAttributes,
  minimalContext,
} from './attributes-read.ts'
import { ContextEvaluation } from './partial-evaluation.ts'

const alsoKept = fc.array(
  fc.constantFrom('plan', 'user.plan', 'country', 'a.b', 'user', 'org.key'),
  {
    maxLength: 3,
  },
)

describe('ContextEvaluation', () => {
  it('A flag without unknown reads has the same result for a context that another flag set reduced', () => {
    const numRuns = runs(3000)
    let decided = 0
    let undecided = 0
    fc.assert(
      fc.property(
        fc.tuple(anyDefinition, anyDefinition),
        alsoKept,
        anyContext,
        anyNow,
        ([reducing, evaluated], more, context, now) => {
          const reducer = compileFlagSet(reducing)
          const flagSet = compileFlagSet(evaluated)
          const reduced = minimalContext(reducer, deepFreeze(context), more)
          const kept = new Set([...attributesRead(reducer), ...more])
          const isKnown = knownAttributes(reduced, kept)
          const evaluation = new ContextEvaluation(flagSet, reduced, { now, isKnown })
          for (const flag of flagSet.ordered) {
            const unknown = evaluation.unknownReads(flag)
            const real = evaluateFlag(flagSet, flag.key, context, now)
            if (unknown.length === 0) {
              decided += 1
              const given = evaluateFlag(flagSet, flag.key, reduced, now)
              const { prerequisiteKey } = given
              expect(prerequisiteKey === undefined).toBe(real.prerequisiteKey === undefined)
              // If several prerequisites are not met, the details can name different ones.
              expect({ ...real, ...(prerequisiteKey && { prerequisiteKey }) }).toEqual(given)
              expect(evaluation.outcomeOf(flag).explanation.reason).toBe(real.reason)
            } else undecided += 1
            const reads = attributesReadBy(flagSet, [flag.key])
            for (const name of unknown) {
              expect(isKnown(name)).toBe(false)
              expect(reads.has(name)).toBe(true)
            }
          }
        },
      ),
      { numRuns },
    )
    expect(Math.min(decided, undecided)).toBeGreaterThan(numRuns / 6)
  })

  it('A flag has no unknown reads for a context that its own flag set reduced', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, (definition, context, now) => {
        const flagSet = compileFlagSet(definition)
        const reduced = minimalContext(flagSet, context)
        const isKnown = knownAttributes(reduced, new Set(attributesRead(flagSet)))
        const evaluation = new ContextEvaluation(flagSet, reduced, { now, isKnown })
        for (const flag of flagSet.ordered) expect(evaluation.unknownReads(flag)).toEqual([])
      }),
      { numRuns: runs(300) },
    )
  })
})
