import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  gradualFlag,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { compileFlagSet } from './flag-set.ts'
import { changedByGradualRollouts, nextTimestamp, stepAt } from './schedule.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-01-01T00:00:00.000Z')

const flagSet = compileFlagSet(
  flagSetDefinition(
    [
      gradualFlag('early', '2026-01-01T00:00:00.000Z'),
      gradualFlag('late', '2026-01-01T02:00:00.000Z'),
      flagDefinition('follows', {
        prerequisites: [{ flagId: 'id of late', variationIds: ['on'] }],
      }),
      flagDefinition('by-segment', { rules: [ruleDefinition({ segmentId: 's' })] }),
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
  ])('stepAt returns the number of timestamps at or before %d: %d', (now, step) => {
    expect(stepAt(flagSet, now)).toBe(step)
  })
})

describe('nextTimestamp', () => {
  it('nextTimestamp returns the first timestamp after now', () => {
    expect(nextTimestamp(flagSet, 0)).toBe(START)
    expect(nextTimestamp(flagSet, START)).toBe(START + HOUR)
    expect(nextTimestamp(flagSet, START + 4 * HOUR)).toBeUndefined()
  })
})

describe('changedByGradualRollouts', () => {
  it('changedByGradualRollouts returns the flags with a step after the first and up to the second timestamp', () => {
    expect(changedByGradualRollouts(flagSet, START - 1, START)).toEqual(['early'])
    expect(changedByGradualRollouts(flagSet, START, START + HOUR - 1)).toEqual([])
    expect(changedByGradualRollouts(flagSet, START + 4 * HOUR, START + 99 * HOUR)).toEqual([])
  })

  it('changedByGradualRollouts omits inactive flags', () => {
    const inactive = { ...gradualFlag('early', '2026-01-01T00:00:00.000Z'), isActive: false }
    const stopped = compileFlagSet(flagSetDefinition([inactive]))
    expect(changedByGradualRollouts(stopped, START - 1, START)).toEqual([])
  })

  it('changedByGradualRollouts returns dependents through prerequisites, conditions and segments', () => {
    const dependents = ['by-segment', 'follows', 'late']
    expect(changedByGradualRollouts(flagSet, START + 3 * HOUR, START + 4 * HOUR)).toEqual(
      dependents,
    )
    expect(changedByGradualRollouts(flagSet, 0, START + 4 * HOUR)).toEqual([
      'by-segment',
      'early',
      'follows',
      'late',
    ])
  })
})
