import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { deepFreeze } from '../../test/deep-freeze.ts'
import { anyDefinition, anyNow, anyPoison } from '../../test/definition-arbitraries.ts'
import { evaluateFlag } from '../evaluation/evaluate.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import { compileReference, readAttribute } from '../model/attribute.ts'
import { type EvaluationContext, isEmptyContext } from '../model/context.ts'
import { evaluateDetail } from './evaluate-detail.ts'

const anyChange = fc.record({
  name: fc.constantFrom('plan', 'age', 'address', 'organization.plan', 'toString'),
  value: fc.constantFrom('pro', 'free', 42, null, { country: 'DE' }),
})

/** Returns a context with another attribute, which in a multi context belongs to the user. */
function changed(
  context: EvaluationContext,
  { name, value }: { readonly name: string; readonly value: string | number | object | null },
): EvaluationContext {
  if (isEmptyContext(context)) return context
  const user = { key: 'user-1', ...(context['user'] as object), [name]: value }
  return (context.kind === 'multi' ? { ...context, user } : { ...context, [name]: value }) as never
}

function isSameAttribute(name: string, left: EvaluationContext, right: EvaluationContext): boolean {
  const reference = compileReference(name)
  const texts = [left, right].map((context) => JSON.stringify(readAttribute(context, reference)))
  return texts[0] === texts[1]
}

describe('evaluateDetail', () => {
  it('The full detail contains the detail and every attribute that the result depends on', () => {
    const numRuns = runs(2_000)
    const seen = { alike: 0, different: 0 }
    const anyCase = fc.record({ definition: anyDefinition, context: anyContext, now: anyNow })
    fc.assert(
      fc.property(anyCase, anyChange, ({ definition, context, now }, change) => {
        const flagSet = compileFlagSet(deepFreeze(definition))
        const other = changed(context, change)
        for (const key of [...flagSet.flags.keys(), 'nowhere']) {
          const full = evaluateDetail(flagSet, key, deepFreeze(context), now)
          const { version, prerequisiteChain, attributesRead, ...detail } = full
          expect(detail).toEqual(evaluateFlag(flagSet, key, context, now))
          expect([version, prerequisiteChain[0]]).toEqual([flagSet.version, detail.prerequisiteKey])
          const isAlike = [...attributesRead, 'kind', 'user.key'].every((name) => {
            return isSameAttribute(name, context, other)
          })
          seen[isAlike ? 'alike' : 'different'] += 1
          if (isAlike) expect(evaluateFlag(flagSet, key, other, now)).toEqual(detail)
        }
      }),
      { numRuns },
    )
    expect(Math.min(seen.alike, seen.different)).toBeGreaterThan(numRuns / 4)
  })
  it('evaluateDetail never throws, even for a definition that does not have the declared shape', () => {
    fc.assert(
      fc.property(anyPoison, anyContext, anyNow, (definition, context, now) => {
        const flagSet = compileFlagSet(definition)
        for (const key of flagSet.flags.keys()) {
          const detail = evaluateFlag(flagSet, key, context, now)
          expect(evaluateDetail(flagSet, key, context, now)).toMatchObject(detail)
        }
      }),
      { numRuns: runs(1_000) },
    )
  })
})
