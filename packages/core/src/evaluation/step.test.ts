import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyContext, anyDefinition, anyNow } from '../../test/arbitraries.ts'
import {
  flagDefinition,
  flagSetDefinition,
  rampingFlag,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { detailsOf, evaluateAll, jsonOf } from '../all-flags.ts'
import { compileFlagSet } from './flag-set.ts'
import { nextInstant, rampingFlags, stepAt } from './step.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-01-01T00:00:00.000Z')

const flagSet = compileFlagSet(
  flagSetDefinition(
    [
      rampingFlag('early', '2026-01-01T00:00:00.000Z'),
      rampingFlag('late', '2026-01-01T02:00:00.000Z'),
      flagDefinition('follows', {
        prerequisites: [{ flagId: 'id of late', variationIds: ['on'] }],
      }),
      flagDefinition('asks', { rules: [ruleDefinition({ segmentId: 's' })] }),
      flagDefinition('alone'),
    ],
    [segmentDefinition('s', { rules: [{ attribute: 'late', operator: 'flag_is', value: 'on' }] })],
  ),
)

describe('stepAt', () => {
  it.each([
    [START - 1, 0],
    [START, 1],
    [START + HOUR - 1, 1],
    [START + HOUR, 2],
    [START + 2 * HOUR, 3],
    [START + 4 * HOUR, 5],
    [START + 1_000 * HOUR, 5],
  ])('counts the instants until %d: %d', (now, step) => {
    expect(stepAt(flagSet, now)).toBe(step)
  })

  it('means that answers stay the same for as long as it does', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, anyNow, (definition, context, one, other) => {
        const random = compileFlagSet(definition)
        if (stepAt(random, one) !== stepAt(random, other)) return
        expect(detailsOf(evaluateAll(random, context, one))).toEqual(
          detailsOf(evaluateAll(random, context, other)),
        )
      }),
      { numRuns: 250 },
    )
  })
})

describe('nextInstant', () => {
  it('is the first instant that is still to come', () => {
    expect(nextInstant(flagSet, 0)).toBe(START)
    expect(nextInstant(flagSet, START)).toBe(START + HOUR)
    expect(nextInstant(flagSet, START + 4 * HOUR)).toBeUndefined()
  })
})

describe('rampingFlags', () => {
  it('finds the flags that step after the one instant and up to the other', () => {
    expect(rampingFlags(flagSet, START - 1, START)).toEqual(['early'])
    expect(rampingFlags(flagSet, START, START + HOUR - 1)).toEqual([])
    expect(rampingFlags(flagSet, START + 4 * HOUR, START + 99 * HOUR)).toEqual([])
  })

  it('finds what depends on them through prerequisites, conditions and segments', () => {
    const dependents = ['asks', 'follows', 'late']
    expect(rampingFlags(flagSet, START + 3 * HOUR, START + 4 * HOUR)).toEqual(dependents)
    expect(rampingFlags(flagSet, 0, START + 4 * HOUR)).toEqual(['asks', 'early', 'follows', 'late'])
  })

  it('leaves out only flags that answer every context alike at both instants', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, anyNow, (definition, context, one, other) => {
        const random = compileFlagSet(definition)
        const ramping = new Set(rampingFlags(random, one, other))
        const others = (now: number) =>
          detailsOf(evaluateAll(random, context, now)).filter(
            ({ flagKey }) => !ramping.has(flagKey),
          )
        expect(others(other)).toEqual(others(one))
        if (ramping.size === 0) {
          expect(jsonOf(evaluateAll(random, context, other))).toBe(
            jsonOf(evaluateAll(random, context, one)),
          )
        }
      }),
      { numRuns: 250 },
    )
  })
})
