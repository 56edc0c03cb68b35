import { describe, expect, it } from 'vitest'
import type { GradualRolloutDefinition } from '../model/definition.ts'
import { compileGradualRollout, nextStepAt, stepsTaken, timestampsOf } from './gradual-rollout.ts'

const START = 1_767_225_600_000
const HOUR = 3_600_000

const definition: GradualRolloutDefinition = {
  id: 'r',
  bucketBy: 'user.key',
  salt: 'checkout',
  scheme: 'ff',
  strategy: 'gradual',
  variationId: 'on',
  targetPercentage: 25,
  increment: 10,
  intervalHours: 2,
  startAt: '2026-01-01T00:00:00.000Z',
}

describe('compileGradualRollout', () => {
  it('compileGradualRollout counts in buckets and milliseconds, and the last step ends at the target', () => {
    expect(compileGradualRollout(definition)).toEqual({
      variationId: 'on',
      startAt: START,
      interval: 2 * HOUR,
      increment: 10_000,
      target: 25_000,
      steps: 3,
      fault: undefined,
    })
  })

  it('compileGradualRollout is exact for fractions that binary numbers cannot represent', () => {
    const gradual = compileGradualRollout({ ...definition, increment: 0.1, targetPercentage: 0.3 })
    expect(gradual).toMatchObject({ increment: 100, target: 300, steps: 3 })
  })

  it('compileGradualRollout accepts the smallest increment, the shortest interval, and a target of 0', () => {
    const smallest = { increment: 0.001, intervalHours: 1 / HOUR, targetPercentage: 100 }
    expect(compileGradualRollout({ ...definition, ...smallest })).toMatchObject({
      increment: 1,
      interval: 1,
      target: 100_000,
      steps: 100_000,
      fault: undefined,
    })
    const nowhere = compileGradualRollout({ ...definition, targetPercentage: 0 })
    expect(nowhere).toMatchObject({ steps: 0, fault: undefined })
  })

  it.each([
    ['a start without a zone', { startAt: '2026-01-01T00:00:00' }, 'start'],
    ['no increment', { increment: 0 }, 'increment'],
    ['an increment of less than a bucket', { increment: 0.0004 }, 'increment'],
    ['a negative increment', { increment: -1 }, 'increment'],
    ['an increment that is not a number', { increment: Number.NaN }, 'increment'],
    ['no interval', { intervalHours: 0 }, 'interval'],
    ['an interval of less than a millisecond', { intervalHours: 1e-8 }, 'interval'],
    ['an unsafe interval', { intervalHours: 1e300 }, 'interval'],
    ['a target above 100 %', { targetPercentage: 100.001 }, 'target'],
    ['a negative target', { targetPercentage: -1 }, 'target'],
    ['a target that is not a number', { targetPercentage: Number.NaN }, 'target'],
  ])('compileGradualRollout names the invalid part of a schedule with %s', (_, changes, fault) => {
    expect(compileGradualRollout({ ...definition, ...changes }).fault).toBe(fault)
  })
})

describe('stepsTaken', () => {
  it.each([
    [START - 1, 0],
    [START, 1],
    [START + 2 * HOUR - 1, 1],
    [START + 2 * HOUR, 2],
    [START + 4 * HOUR, 3],
    [START + 1_000 * HOUR, 3],
  ])('stepsTaken at %d returns %d', (now, steps) => {
    expect(stepsTaken(compileGradualRollout(definition), now)).toBe(steps)
  })
})

describe('nextStepAt', () => {
  it.each([
    [START - 1, START],
    [START, START + 2 * HOUR],
    [START + 2 * HOUR - 1, START + 2 * HOUR],
    [START + 2 * HOUR, START + 4 * HOUR],
    [START + 4 * HOUR, undefined],
    [START + 1_000 * HOUR, undefined],
  ])('nextStepAt at %d returns %d', (now, next) => {
    expect(nextStepAt(definition, now)).toBe(next)
  })

  it('nextStepAt returns no step for a target of 0 or an invalid schedule', () => {
    expect(nextStepAt({ ...definition, targetPercentage: 0 }, 0)).toBe(undefined)
    expect(nextStepAt({ ...definition, startAt: 'soon' }, 0)).toBe(undefined)
    expect(nextStepAt({ ...definition, intervalHours: 0 }, 0)).toBe(undefined)
  })
})

describe('timestampsOf', () => {
  it('timestampsOf returns every step of every gradual rollout once, in ascending order', () => {
    const slow = compileGradualRollout(definition)
    const quick = compileGradualRollout({ ...definition, increment: 12.5, intervalHours: 1 })
    expect(timestampsOf([slow, quick])).toEqual([0, 1, 2, 4].map((hours) => START + hours * HOUR))
    expect(timestampsOf([])).toEqual([])
  })

  it('timestampsOf returns at most one timestamp per bucket', () => {
    const finest = compileGradualRollout({ ...definition, targetPercentage: 100, increment: 0.001 })
    expect(timestampsOf([finest])).toHaveLength(100_000)
  })

  it('timestampsOf returns no timestamps for a gradual rollout with a target of 0', () => {
    expect(timestampsOf([compileGradualRollout({ ...definition, targetPercentage: 0 })])).toEqual(
      [],
    )
  })
})
