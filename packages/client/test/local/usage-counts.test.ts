import { compileFlagSet } from '@ff/core'
import { asEventsRequest, MAX_BODY_BYTES } from '@ff/protocol/sdk'
import { describe, expect, it } from 'vitest'
import { textFlag } from '../../../server/test/seed.ts'
import {
  closeCounts,
  countEvaluation,
  createUsageCounts,
  MAX_WAITING,
  openCounts,
  takeReport,
} from '../../src/local/usage-counts.ts'

/** Returns counts with one evaluation of each of some flags. */
function counted(...keys: readonly string[]) {
  const usage = createUsageCounts()
  const { ordered } = compileFlagSet({
    ...{ version: 1, segments: [] },
    flags: keys.map((key) => textFlag(key, 'x')),
  })
  for (const flag of ordered) {
    openCounts(usage, flag, 0)
    countEvaluation(usage, flag, flag.fallback.code)
  }
  return { usage, ordered }
}

describe('usage counts', () => {
  it('More than a million evaluations of an outcome become several events.', () => {
    const { usage, ordered } = counted('a')
    const [flag] = ordered
    if (flag === undefined) throw new Error('The flag is missing')
    const counts = usage.open.get(flag)?.counts
    if (counts) counts[flag.fallback.code] = 2_500_000
    closeCounts(usage)
    expect(usage.events.map(({ count }) => count)).toEqual([1_000_000, 1_000_000, 500_000])
  })

  it('At most 10,000 flags have open counts, and other evaluations are counted as dropped.', () => {
    const keys = Array.from({ length: MAX_WAITING + 5 }, (_, index) => `flag-${index}`)
    const { usage } = counted(...keys)
    expect([usage.open.size, usage.dropped]).toEqual([MAX_WAITING, 5])
    closeCounts(usage)
    expect(usage.events).toHaveLength(MAX_WAITING)
  })

  it('At most 10,000 events wait, and the oldest are dropped first.', () => {
    const { usage } = counted('new')
    usage.events = Array.from({ length: MAX_WAITING }, (_, index) => {
      const flagKey = index === 0 ? 'oldest' : 'old'
      return { flagKey, variationKey: null, reason: 'ERROR', count: 7, from: '' } as const
    })
    closeCounts(usage)
    expect([usage.events.length, usage.dropped]).toEqual([MAX_WAITING, 7])
    expect([usage.events[0]?.flagKey, usage.events.at(-1)?.flagKey]).toEqual(['old', 'new'])
  })

  it('A report has at most 1,000 events and 256 KiB of UTF-8.', () => {
    for (const [length, unit] of [
      [1, 'k'],
      [900, '語'],
      [900, '"'],
    ] as const) {
      const keys = Array.from({ length: 2000 }, (_, index) => `${unit.repeat(length)}${index}`)
      const { usage } = counted(...keys)
      closeCounts(usage)
      let evaluations = 0
      while (usage.events.length > 0) {
        const report = takeReport(usage, 'i'.repeat(64))
        expect(Buffer.byteLength(report.body)).toBeLessThanOrEqual(MAX_BODY_BYTES)
        expect(asEventsRequest(JSON.parse(report.body))?.events).toHaveLength(report.evaluations)
        evaluations += report.evaluations
      }
      expect(evaluations).toBe(2000)
    }
  })
})
