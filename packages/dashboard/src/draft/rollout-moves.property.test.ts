import {
  movedPercentage,
  moveRanges,
  rangesAt,
  rangesOf,
  reshuffledPercentage,
} from '@ff/core/authoring'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anySettings } from '../../test/draft/any-configuration.ts'
import { type Configuration, isSame, type Rollout } from './configuration.ts'
import { newRollout } from './rollout-edits.ts'
import { gradualSteps, rolloutMoves, sharesAt } from './rollout-moves.ts'

const HOUR = 3_600_000

type Ranges = ReturnType<typeof rangesOf>

/** A published rollout, with its buckets and those before its last change. */
interface Published {
  readonly rollout: Rollout
  readonly ranges: Ranges
  readonly previous: Ranges | undefined
}

/** Returns the buckets of a rollout at `now`, as the server reads them. */
function viewOf({ rollout, ranges }: Pick<Published, 'rollout' | 'ranges'>, now: number): Ranges {
  const { strategy, targetPercentage, increment, intervalHours, startAt } = rollout
  if (strategy !== 'gradual') return ranges
  const schedule = {
    targetPercentage: targetPercentage ?? 0,
    increment: increment ?? 0,
    intervalHours: intervalHours ?? 0,
    startAt: startAt ?? '',
  }
  const variationId = rollout.variationId ?? ''
  return [...rangesAt({ ...rollout, strategy, variationId, ...schedule }, now)]
}

/** Publishes a change of a rollout at `now` in the way of the server. */
function published(before: Published | undefined, rollout: Rollout, now: number): Published {
  const { strategy, variants, variationId, percentage } = rollout
  const one = { variationId: variationId ?? '', weight: percentage ?? 0 }
  const shares = strategy === 'variant' ? (variants ?? []) : [one]
  const view = before && viewOf(before, now)
  const moved = view ? moveRanges(view, shares, before?.previous) : rangesOf(shares)
  const ranges = strategy === 'gradual' ? [] : moved
  const isMoved = !isSame(view, viewOf({ rollout, ranges }, now))
  return { rollout, ranges, previous: isMoved ? view : before?.previous }
}

const anyRollout = anySettings.map((settings): Rollout => {
  return { ...newRollout('r', 'R', null), salt: 's', ...settings }
})
const anyTime = fc.nat({ max: 72 }).map((hours) => hours * HOUR)

describe('rolloutMoves', () => {
  it('An exact figure equals the percentage that publishing moves, and any other is a minimum.', () => {
    const found = { exact: 0, minimum: 0, more: 0 }
    fc.assert(
      fc.property(fc.tuple(anyRollout, anyRollout, anyRollout), anyTime, (rollouts, now) => {
        const [first, second, third] = rollouts
        const before = published(published(undefined, first, 0), second, 0)
        const moved = movedPercentage(
          viewOf(before, now),
          viewOf(published(before, third, now), now),
        )
        const moves = rolloutMoves(second, third, now)
        found[moves.isExact ? 'exact' : 'minimum'] += 1
        if (moves.isExact) expect(moves.movedPercentage).toBeCloseTo(moved, 6)
        if (moved > moves.movedPercentage + 1e-6) found.more += 1
        expect(moves.movedPercentage).toBeLessThanOrEqual(moved + 1e-6)
      }),
      { numRuns: runs(3000, 1500) },
    )
    for (const count of Object.values(found)) expect(count).toBeGreaterThan(0)
  })

  it('The shares at a time are those of the engine, for every strategy.', () => {
    fc.assert(
      fc.property(anyRollout, anyTime, (rollout, now) => {
        const ranges = viewOf(published(undefined, rollout, now), now)
        const shares = [...sharesAt(rollout, now)].filter(([id]) => id !== null)
        const sizes = new Map<string, number>()
        for (const { variationId, from, to } of ranges) {
          if (to > from) sizes.set(variationId, (to - from) / 1000)
        }
        expect(new Map(shares)).toEqual(sizes)
      }),
      { numRuns: runs(100) },
    )
  })

  it.each(['salt', 'bucketBy', 'scheme'] as const)(
    'Another value of %s reassigns everyone, and the figure is that of the engine.',
    (field) => {
      fc.assert(
        fc.property(anyRollout, anyRollout, anyTime, (before, other, now) => {
          const after = { ...other, [field]: 'another' }
          const [was, is] = [before, after].map((rollout) => {
            return viewOf(published(undefined, rollout, now), now)
          })
          const moves = rolloutMoves(before, after, now)
          expect(moves).toMatchObject({ isReassigned: true, isExact: true })
          expect(moves.movedPercentage).toBeCloseTo(reshuffledPercentage(was ?? [], is ?? []), 6)
        }),
        { numRuns: runs(100) },
      )
    },
  )

  it('From 25 to 30 %, another 5 % get the variation and no one loses it.', () => {
    const before = { ...newRollout('r', 'R', 'on'), percentage: 25 }
    const moves = rolloutMoves(before, { ...before, percentage: 30 }, 0)
    expect(moves).toMatchObject({ movedPercentage: 5, isReassigned: false, isExact: true })
    expect(moves.shares).toEqual([
      { variationId: 'on', before: 25, after: 30 },
      { variationId: null, before: 75, after: 70 },
    ])
  })
})

describe('gradualSteps', () => {
  it('The steps are the times and shares at which the engine changes the rollout.', () => {
    const schedule = { targetPercentage: 50, increment: 20, intervalHours: 24 }
    const startAt = new Date(0).toISOString()
    const gradual = { ...newRollout('r', 'R', 'on'), percentage: null, ...schedule, startAt }
    const rollout: Configuration['rollouts'][number] = { ...gradual, strategy: 'gradual' }
    const steps = gradualSteps(rollout, 5)
    expect(steps.map(({ percentage }) => percentage)).toEqual([20, 40, 50])
    for (const { at, percentage } of steps) {
      const end = viewOf(published(undefined, rollout, at), at)[0]?.to
      expect(end).toBe(percentage * 1000)
      expect(viewOf({ rollout, ranges: [] }, at - 1)[0]?.to).not.toBe(end)
    }
    expect(gradualSteps({ ...rollout, increment: 0 }, 0)).toEqual([])
    expect(gradualSteps({ ...rollout, increment: 0.001 }, 0)).toHaveLength(200)
  })
})
