import { describe, expect, it } from 'vitest'
import { flagDefinition, ruleDefinition } from '../../test/definitions.ts'
import { prepareIncrementally } from '../all-flags.ts'
import { explainFlag, explainIncrementally, prepareExplanations } from '../explain.ts'
import { runToEnd } from '../model/incremental.ts'
import { compileFlagSet, prepareDefinitions } from './flag-set.ts'

const RULES = 100

/** Returns a flag with rules that have conditions of several thousand characters. */
function largeFlag(operator: string) {
  const rules = Array.from({ length: RULES }, (_, index) => {
    const texts = Array.from({ length: 200 }, (__, number) => `text-${index}-${number}`)
    const conditions = [{ attribute: 'it', operator, value: JSON.stringify(texts) }]
    return ruleDefinition({ id: `rule-${index}`, conditions })
  })
  return flagDefinition('large', { rules })
}

function chunksOf(work: Generator<undefined, unknown>): number {
  return [...work].length
}

describe('A flag with many long conditions', () => {
  it.each(['in', 'contains'])(
    'The compilation of a flag with many long conditions yields often (%s)',
    (operator) => {
      const definition = { version: 1, flags: [largeFlag(operator)], segments: [] }
      const flagSet = compileFlagSet(definition)
      expect(chunksOf(prepareDefinitions(flagSet))).toBeGreaterThan(RULES / 4)
    },
  )

  it('The indexing of a flag with many long conditions yields often', () => {
    const definition = { version: 1, flags: [largeFlag('in')], segments: [] }
    const texts = RULES * 200
    const flagSet = compileFlagSet(definition)
    runToEnd(prepareDefinitions(flagSet))
    expect(chunksOf(prepareIncrementally(flagSet))).toBeGreaterThan(texts / 5000)
  })

  it('explainIncrementally yields often and returns the same explanation as explainFlag', () => {
    const context = { kind: 'user', key: 'u', it: 'text-99-7' }
    const definition = { version: 1, flags: [largeFlag('in')], segments: [] }
    const flagSet = compileFlagSet(definition)
    expect(chunksOf(prepareExplanations(flagSet, ['large'], context))).toBeGreaterThanOrEqual(RULES)
    expect(chunksOf(explainIncrementally(flagSet, 'large', context, 0))).toBeGreaterThanOrEqual(
      RULES - 1,
    )
    const explanation = runToEnd(explainIncrementally(flagSet, 'large', context, 0))
    expect(explanation).toEqual(explainFlag(compileFlagSet(definition), 'large', context, 0))
    expect(explanation.detail).toMatchObject({ ruleId: 'rule-99' })
  })
})
