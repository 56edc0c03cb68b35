import { describe, expect, it } from 'vitest'
import type { RolloutDefinition } from '../model/definition.ts'
import { compileRollout, pickVariation, placeIn, rangesOf } from './rollout.ts'

const share = (variationId: string, weight: number) => ({ variationId, weight })

describe('rangesOf', () => {
  it('rangesOf returns adjacent ranges of whole buckets', () => {
    expect(rangesOf([share('a', 33.333), share('b', 33.333), share('c', 33.334)])).toEqual([
      { variationId: 'a', from: 0, to: 33_333 },
      { variationId: 'b', from: 33_333, to: 66_666 },
      { variationId: 'c', from: 66_666, to: 100_000 },
    ])
  })

  it('rangesOf leaves the remaining buckets without a variation, and omits empty shares', () => {
    expect(rangesOf([share('a', 0), share('b', 0.001)])).toEqual([
      { variationId: 'b', from: 0, to: 1 },
    ])
    expect(rangesOf([])).toEqual([])
  })

  it('rangesOf is exact for every weight with three decimals', () => {
    for (let buckets = 0; buckets <= 100_000; buckets += 1) {
      const [range] = rangesOf([share('a', buckets / 1000)])
      if ((range?.to ?? 0) !== buckets) expect(range?.to).toBe(buckets)
    }
  })

  it.each([
    ['a sum above 100 %', [share('a', 60), share('b', 40.001)], /exceed 100 %/],
    ['a negative weight', [share('a', -1)], /three decimals/],
    ['a weight with more than three decimals', [share('a', 0.0001)], /three decimals/],
    ['a weight that is not a number', [share('a', Number.NaN)], /three decimals/],
    ['an infinite weight', [share('a', Number.POSITIVE_INFINITY)], /three decimals/],
  ])('rangesOf refuses %s', (_, shares, message) => {
    expect(() => rangesOf(shares)).toThrowError(
      expect.objectContaining({
        code: 'INVALID_DEFINITION',
        message: expect.stringMatching(message),
      }),
    )
  })
})

describe('pickVariation', () => {
  const ranges = [
    { variationId: 'a', from: 10, to: 20 },
    { variationId: 'b', from: 20, to: 21 },
    { variationId: 'a', from: 30, to: 40 },
  ]

  it.each([
    [0, undefined],
    [9, undefined],
    [10, 'a'],
    [19, 'a'],
    [20, 'b'],
    [21, undefined],
    [29, undefined],
    [30, 'a'],
    [39, 'a'],
    [40, undefined],
  ])('pickVariation for bucket %d returns %s', (bucket, variationId) => {
    expect(pickVariation(ranges, bucket)).toBe(variationId)
  })
})

describe('compileRollout', () => {
  const basis = { id: 'r', bucketBy: 'user.key', salt: 'checkout', scheme: 'ff' }
  const withRanges = (...ranges: [number, number][]): RolloutDefinition => ({
    ...basis,
    strategy: 'variant',
    ranges: ranges.map(([from, to], index) => ({ variationId: `v-${index}`, from, to })),
  })

  it('compileRollout accepts ranges in any order and ignores empty ones', () => {
    const rollout = compileRollout(withRanges([50_000, 100_000], [17_503, 17_503], [0, 50_000]))
    expect(rollout.fault).toBeUndefined()
    expect(placeIn(rollout, { kind: 'user', key: 'user-1' }, 0)).toEqual({
      bucket: 17_502,
      number: 0,
      range: { variationId: 'v-2', from: 0, to: 50_000 },
    })
  })

  it('A placement has a bucket but no range if the rollout has no variation for the bucket', () => {
    const user = { kind: 'user', key: 'user-1' }
    const placement = { bucket: 17_502, number: -1, range: undefined }
    expect(placeIn(compileRollout(withRanges([0, 17_502])), user, 0)).toStrictEqual(placement)
    const schedule = { targetPercentage: 17, increment: 17, intervalHours: 1 }
    const startAt = '1970-01-01T00:00:00Z'
    const gradual = {
      ...basis,
      ...schedule,
      startAt,
      strategy: 'gradual',
      variationId: 'v',
    } as const
    expect(placeIn(compileRollout(gradual), user, 0)).toStrictEqual(placement)
    expect(
      placeIn(compileRollout({ ...gradual, increment: 18, targetPercentage: 18 }), user, 0),
    ).toEqual({
      bucket: 17_502,
      number: 0,
      range: { variationId: 'v', from: 0, to: 18_000 },
    })
  })

  it.each([0, 1, 100_000, 100_001, 1.5])(
    'compileRollout accepts only total weights from 1 to 100,000: %d',
    (totalWeight) => {
      const { fault } = compileRollout({ ...withRanges([0, 1]), totalWeight } as RolloutDefinition)
      expect(fault === undefined).toBe(totalWeight === 1 || totalWeight === 100_000)
    },
  )

  it.each([
    ['overlapping ranges', withRanges([0, 2], [1, 3])],
    ['a negative start', withRanges([-1, 3])],
    ['an end past the last bucket', withRanges([0, 100_001])],
    ['a fraction', withRanges([0, 1.5])],
    ['a range that ends before it starts', withRanges([2, 1])],
    ['another scheme', { ...withRanges([0, 1]), scheme: 'other' }],
  ])('compileRollout refuses %s', (_, definition) => {
    expect(compileRollout(definition).fault).toBeTypeOf('string')
  })
})
