import { describe, expect, it } from 'vitest'
import type { BucketRange } from '../model/definition.ts'
import { MAX_RANGES, movedPercentage, moveRanges, reshuffledPercentage } from './move-ranges.ts'
import { rangesAt } from './rollout.ts'

const share = (variationId: string, weight: number) => ({ variationId, weight })

/** Parses ranges. `a 0-10` is a range of the variation `a`, in thousands of buckets. */
const ranges = (...texts: string[]): BucketRange[] =>
  texts.map((text) => {
    const [variationId = '', from, to] = text.split(/[ -]/)
    return { variationId, from: Number(from) * 1000, to: Number(to) * 1000 }
  })

describe('moveRanges', () => {
  it('A share grows into buckets without a variation, and shrinks back', () => {
    expect(moveRanges(ranges('a 0-10'), [share('a', 25)])).toEqual(ranges('a 0-25'))
    expect(moveRanges(ranges('a 0-25'), [share('a', 10)])).toEqual(ranges('a 0-10'))
    expect(moveRanges(ranges('a 0-25'), [share('a', 0)])).toEqual([])
    expect(moveRanges([], [share('a', 100)])).toEqual(ranges('a 0-100'))
    expect(moveRanges([], [share('a', 20), share('b', 10)])).toEqual(ranges('a 0-20', 'b 20-30'))
  })

  it('moveRanges takes buckets only from variations that shrink, and does not move the others', () => {
    const before = ranges('a 0-50', 'b 50-80', 'c 80-100')
    expect(moveRanges(before, [share('a', 40), share('b', 30), share('c', 30)])).toEqual(
      ranges('a 0-40', 'c 40-50', 'b 50-80', 'c 80-100'),
    )
    expect(moveRanges(before, [share('a', 60), share('b', 20), share('c', 20)])).toEqual(
      ranges('a 0-60', 'b 60-80', 'c 80-100'),
    )
    expect(moveRanges(before, [share('a', 50), share('b', 20), share('c', 20)])).toEqual(
      ranges('a 0-50', 'b 50-70', 'c 80-100'),
    )
  })

  it('moveRanges moves whole ranges first, preferably those between two ranges of the growing variation', () => {
    const before = ranges('a 0-30', 'b 30-35', 'a 35-60', 'b 60-100')
    expect(moveRanges(before, [share('a', 60), share('b', 40)])).toEqual(
      ranges('a 0-60', 'b 60-100'),
    )
    expect(moveRanges(before, [share('a', 70), share('b', 30)])).toEqual(
      ranges('a 0-70', 'b 70-100'),
    )
  })

  it('Among moves with equally many resulting ranges, moveRanges prefers the largest, then the first', () => {
    const largest = ranges('a 0-10', 'b 10-20', 'a 20-40', 'b 40-50', 'a 50-60')
    expect(moveRanges(largest, [share('a', 20), share('b', 20), share('c', 20)])).toEqual(
      ranges('a 0-10', 'b 10-20', 'c 20-40', 'b 40-50', 'a 50-60'),
    )
    const equal = ranges('a 0-10', 'b 10-20', 'a 20-30')
    expect(moveRanges(equal, [share('a', 10), share('b', 10), share('c', 10)])).toEqual(
      ranges('c 0-10', 'b 10-20', 'a 20-30'),
    )
  })

  it('moveRanges cuts next to a range of the variation that receives the buckets, on either side', () => {
    const before = ranges('b 0-30', 'a 30-50', 'c 50-100')
    expect(moveRanges(before, [share('b', 30), share('a', 25), share('c', 45)])).toEqual(
      ranges('b 0-30', 'a 30-55', 'c 55-100'),
    )
    const turned = ranges('c 0-50', 'a 50-70', 'b 70-100')
    expect(moveRanges(turned, [share('b', 30), share('a', 25), share('c', 45)])).toEqual(
      ranges('c 0-45', 'a 45-70', 'b 70-100'),
    )
  })

  it('A growing variation takes adjacent buckets before the variation that gains the most buckets', () => {
    expect(moveRanges(ranges('x 0-10'), [share('x', 15), share('z', 20)])).toEqual(
      ranges('x 0-15', 'z 15-35'),
    )
    const before = ranges('a 0-60', 'y 60-70')
    expect(moveRanges(before, [share('a', 35), share('y', 15), share('z', 20)])).toEqual(
      ranges('a 0-35', 'z 35-55', 'y 55-70'),
    )
  })

  it('moveRanges can assign a whole range to another variation', () => {
    expect(moveRanges(ranges('a 0-25'), [share('b', 25)])).toEqual(ranges('b 0-25'))
  })

  it('moveRanges returns the previous ranges if they have the new shares', () => {
    const scattered = ranges('a 0-5', 'b 5-50', 'a 95-100')
    const now = ranges('a 0-20', 'b 20-50', 'a 95-100')
    const back = [share('b', 45), share('a', 10)]
    expect(moveRanges(now, back, scattered)).toEqual(scattered)
    expect(moveRanges(now, [share('a', 25), share('b', 30)], scattered)).toEqual(now)
    expect(moveRanges(now, [share('a', 30), share('b', 30)], scattered)).toEqual(
      ranges('a 0-20', 'b 20-50', 'a 90-100'),
    )
  })

  it('moveRanges returns ranges that have the new shares already, even if they could be merged', () => {
    const split = ranges('a 0-5', 'a 5-10', 'b 10-20')
    expect(moveRanges(split, [share('a', 10), share('b', 10)])).toEqual(split)
  })

  it('A variation that shrinks gives up whole small ranges before a part of a large one', () => {
    const before = ranges('a 0-40', 'b 40-45', 'a 45-50', 'c 50-60', 'a 60-90')
    expect(moveRanges(before, [share('a', 65), share('b', 5), share('c', 20)])).toEqual(
      ranges('a 0-40', 'b 40-45', 'c 45-65', 'a 65-90'),
    )
  })

  it('The variation that gains the most buckets receives ranges that are not next to one that grows', () => {
    const before = ranges('a 0-50', 'x 50-60', 'y 60-100')
    expect(
      moveRanges(before, [
        share('a', 20),
        share('b', 10),
        share('c', 20),
        share('x', 10),
        share('y', 40),
      ]),
    ).toEqual(ranges('a 0-20', 'b 20-30', 'c 30-50', 'x 50-60', 'y 60-100'))
  })

  it('After any sequence of changes, each variation has its share and as few buckets as possible moved', () => {
    let current = ranges('a 0-50', 'b 50-80', 'c 80-100')
    const steps = [
      [20, 30, 50],
      [60, 0, 30],
      [10, 10, 10],
      [33.333, 33.333, 33.334],
      [0, 99.999, 0.001],
      [25, 50, 25],
      [24.5, 51, 24.5],
    ]
    const sizeOf = (list: readonly BucketRange[], id: string) => {
      const own = list.filter(({ variationId }) => variationId === id)
      return own.reduce((sum, { from, to }) => sum + to - from, 0)
    }
    for (const [a = 0, b = 0, c = 0] of steps) {
      const next = moveRanges(current, [share('a', a), share('b', b), share('c', c)])
      const sizes = ['a', 'b', 'c'].map((id) => sizeOf(next, id))
      expect(sizes).toEqual([a, b, c].map((weight) => Math.round(weight * 1000)))
      const gained = ['a', 'b', 'c'].map((id, at) => {
        return Math.max(0, (sizes[at] ?? 0) - sizeOf(current, id))
      })
      const unowned = (list: readonly BucketRange[]) => {
        return 100_000 - ['a', 'b', 'c'].reduce((sum, id) => sum + sizeOf(list, id), 0)
      }
      const freed = Math.max(0, unowned(next) - unowned(current))
      const least = gained.reduce((sum, count) => sum + count, freed)
      expect(movedPercentage(current, next)).toBe(least / 1000)
      current = next
    }
  })

  it('moveRanges refuses shares with a sum of more than 100 %', () => {
    expect(() => moveRanges([], [share('a', 60), share('b', 41)])).toThrowError(
      expect.objectContaining({ code: 'INVALID_DEFINITION' }),
    )
  })

  it('moveRanges refuses a result with too many ranges, and the message suggests a new rollout', () => {
    const before = Array.from({ length: MAX_RANGES }, (_, index) => {
      return { variationId: `v-${index % 2}`, from: index * 100, to: (index + 1) * 100 }
    })
    const halves = [share('v-0', 49.95), share('v-1', 49.95)]
    expect(() => moveRanges(before, [...halves, share('v-2', 0.1)])).toThrowError(
      expect.objectContaining({
        code: 'INVALID_DEFINITION',
        message:
          'These weights would split the rollout into more than 1000 ranges of buckets. ' +
          'Create a new rollout with these weights, and use the new rollout in the rules. ' +
          'A new rollout assigns all contexts to new buckets.',
      }),
    )
    const wholes = [share('v-0', 49.9), share('v-1', 49.9)]
    expect(moveRanges(before, [...wholes, share('v-2', 0.2)]).length).toBe(MAX_RANGES - 1)
    const most = [share('v-0', 50), share('v-1', 49.85), share('v-2', 0.05)]
    expect(moveRanges(before.slice(0, -1), most).length).toBe(MAX_RANGES)
  })
})

describe('movedPercentage', () => {
  it.each([
    [ranges('a 0-10'), ranges('a 0-25'), 15],
    [ranges('a 0-10'), ranges('b 0-10'), 10],
    [ranges('a 0-10'), ranges('a 90-100'), 20],
    [ranges('a 0-100'), [], 100],
    [ranges('a 0-50', 'a 50-60'), ranges('a 0-60'), 0],
    [[{ variationId: 'a', from: 0, to: 33_333 }], [], 33.333],
  ])('movedPercentage compares two lists of ranges bucket by bucket', (before, after, moved) => {
    expect(movedPercentage(before, after)).toBe(moved)
    expect(movedPercentage(after, before)).toBe(moved)
  })
})

describe('reshuffledPercentage', () => {
  it.each([
    [ranges('a 0-100'), ranges('a 0-100'), 0],
    [ranges('a 0-50'), ranges('a 0-50'), 50],
    [ranges('a 0-10'), ranges('a 0-10'), 18],
    [ranges('a 0-100'), ranges('b 0-100'), 100],
    [ranges('a 0-50', 'b 50-100'), ranges('b 0-50', 'a 50-100'), 50],
  ])(
    'reshuffledPercentage returns the expected percentage of changed contexts',
    (before, after, moved) => {
      expect(reshuffledPercentage(before, after)).toBe(moved)
    },
  )
})

describe('rangesAt', () => {
  const basis = { id: 'r', bucketBy: 'user.key', salt: 'checkout', scheme: 'ff' }
  const gradual = {
    ...basis,
    strategy: 'gradual' as const,
    variationId: 'a',
    targetPercentage: 25,
    increment: 10,
    intervalHours: 1,
    startAt: '1970-01-01T10:00:00.000Z',
  }

  it('rangesAt returns the current range of a gradual rollout', () => {
    const at = (hour: number) => rangesAt(gradual, hour * 3_600_000)
    expect([9, 10, 11, 12, 99].map(at)).toEqual([
      [],
      ranges('a 0-10'),
      ranges('a 0-20'),
      ranges('a 0-25'),
      ranges('a 0-25'),
    ])
  })

  it('rangesAt returns the ranges of other strategies in ascending order', () => {
    const given = ranges('b 50-60', 'a 0-10')
    expect(rangesAt({ ...basis, strategy: 'variant', ranges: given }, 0)).toEqual(
      ranges('a 0-10', 'b 50-60'),
    )
  })

  it('rangesAt returns no ranges for an invalid rollout', () => {
    expect(rangesAt({ ...gradual, increment: 0 }, 0)).toEqual([])
    const overlapping = ranges('a 0-10', 'b 5-20')
    expect(rangesAt({ ...basis, strategy: 'variant', ranges: overlapping }, 0)).toEqual([])
  })
})
