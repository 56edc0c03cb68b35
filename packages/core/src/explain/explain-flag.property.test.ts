import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { deepFreeze } from '../../test/deep-freeze.ts'
import { anyDefinition, anyNow, anyPoison } from '../../test/definition-arbitraries.ts'
import type { EvaluationDetail } from '../evaluation/detail.ts'
import { evaluateFlag } from '../evaluation/evaluate.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import { evaluateDetail } from './evaluate-detail.ts'
import { explainFlag } from './explain-flag.ts'
import type { ExplanationStep } from './explanation.ts'

/** Derives the result from the steps alone, without the detail. */
function verdictOf(steps: readonly ExplanationStep[]) {
  const decisive = steps.at(-2)
  const rollout = decisive?.steps?.find(({ type }) => type === 'rollout')
  const isDecided = decisive?.outcome === 'held'
  return {
    isRule: isDecided && decisive.type === 'rule',
    isTarget: isDecided && decisive.type === 'target',
    isUnmet: decisive?.type === 'prerequisite' && decisive.outcome === 'not_held',
    isInactive: decisive?.type === 'flag' && decisive.text === 'The flag is inactive.',
    ruleId: isDecided ? decisive.ruleId : undefined,
    bucket: isDecided ? rollout?.bucket : undefined,
    range: isDecided ? rollout?.range : undefined,
    skipped: steps.some(({ steps: parts = [] }) =>
      parts.some(({ type, found, outcome }) => {
        return type === 'rollout' && outcome === 'skipped' && found === null
      }),
    ),
  }
}

function expectSame(steps: readonly ExplanationStep[], detail: EvaluationDetail): void {
  const verdict = verdictOf(steps)
  expect(steps.at(-1)).toMatchObject({ type: 'answer', variationKey: detail.variationKey })
  expect(verdict.ruleId).toBe(detail.ruleId)
  expect(verdict.isUnmet).toBe(detail.prerequisiteKey !== undefined)
  expect(verdict.isInactive && detail.reason !== 'ERROR').toBe(detail.reason === 'DISABLED')
  if (detail.reason === 'SPLIT') {
    expect([verdict.bucket, verdict.range]).toEqual([detail.bucket, detail.range])
  }
  if (detail.reason === 'TARGETING_MATCH') expect(verdict.isRule || verdict.isTarget).toBe(true)
  if (detail.reason === 'DEFAULT') expect(verdict.isRule || verdict.isTarget).toBe(false)
  if (detail.errorCode === 'TARGETING_KEY_MISSING') expect(verdict.skipped).toBe(true)
}

describe('explainFlag', () => {
  it('explainFlag returns the detail of evaluateFlag, and steps with the same result', () => {
    const reasons = new Set<string>()
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, (definition, context, now) => {
        const flagSet = compileFlagSet(deepFreeze(definition))
        for (const key of [...flagSet.flags.keys(), 'nowhere']) {
          const { detail, steps, ...rest } = explainFlag(flagSet, key, deepFreeze(context), now)
          const full = evaluateDetail(flagSet, key, context, now)
          expect({ ...detail, ...rest, version: flagSet.version }).toEqual(full)
          expect(detail).toEqual(evaluateFlag(flagSet, key, context, now))
          expectSame(steps, detail)
          reasons.add(detail.reason)
        }
      }),
      { numRuns: runs(1_000, 300) },
    )
    expect(reasons.size).toBe(6)
  })

  it('explainFlag never throws, even for a definition that does not have the declared shape', () => {
    fc.assert(
      fc.property(anyPoison, anyContext, anyNow, (definition, context, now) => {
        const flagSet = compileFlagSet(definition)
        for (const key of flagSet.flags.keys()) {
          const { detail, steps } = explainFlag(flagSet, key, context, now)
          expect(detail).toEqual(evaluateFlag(flagSet, key, context, now))
          expect(JSON.parse(JSON.stringify(steps))).toEqual(steps)
        }
      }),
      { numRuns: runs(2_000) },
    )
  })
})
