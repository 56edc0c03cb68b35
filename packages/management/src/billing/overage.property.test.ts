import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { type ApiCallTerms, overageOf } from './overage.ts'

const most = 1_000_000_000_000
const terms = fc.record({
  maxApiCalls: fc.nat(most),
  graceBufferPct: fc.nat(1000),
  overageBlockSize: fc.integer({ min: 1, max: 1_000_000_000 }),
  overageRateEurCents: fc.nat(1_000_000),
})
const calls = fc.nat(2 * most)

/** Returns the overage, computed with exact integers. */
function exactly(plan: ApiCallTerms & { maxApiCalls: number }, used: number) {
  const free = (BigInt(plan.maxApiCalls) * BigInt(100 + plan.graceBufferPct)) / 100n
  const over = BigInt(used) > free ? BigInt(used) - free : 0n
  const size = BigInt(plan.overageBlockSize)
  const blocks = (over + size - 1n) / size
  return { free, blocks, cents: blocks * BigInt(plan.overageRateEurCents) }
}

describe('Overage', () => {
  it('The overage equals the result of exact integers', () => {
    fc.assert(
      fc.property(terms, calls, (plan, used) => {
        const { freeCalls, blocks, eurCents } = overageOf(plan, used)
        const { free, blocks: expected, cents } = exactly(plan, used)
        expect([freeCalls, blocks]).toEqual([Number(free), Number(expected)])
        if (cents <= BigInt(Number.MAX_SAFE_INTEGER)) expect(eurCents).toBe(Number(cents))
      }),
      { numRuns: runs(100) },
    )
  })

  it('The overage is zero up to the last free call, and one block from the next call', () => {
    fc.assert(
      fc.property(terms, (plan) => {
        const freeCalls = overageOf(plan, 0).freeCalls ?? 0
        expect(overageOf(plan, freeCalls)).toEqual({ freeCalls, blocks: 0, eurCents: 0 })
        const blockRange = [1, plan.overageBlockSize]
        for (const more of blockRange) {
          const over = overageOf(plan, freeCalls + more)
          expect(over).toEqual({ freeCalls, blocks: 1, eurCents: plan.overageRateEurCents })
        }
        expect(overageOf(plan, freeCalls + plan.overageBlockSize + 1).blocks).toBe(2)
      }),
      { numRuns: runs(100) },
    )
  })

  it('The overage never decreases with more usage, and never increases with more grace', () => {
    fc.assert(
      fc.property(terms, calls, fc.nat(1000), (plan, used, more) => {
        expect(overageOf(plan, used + more).blocks).toBeGreaterThanOrEqual(
          overageOf(plan, used).blocks,
        )
        const generous = { ...plan, graceBufferPct: plan.graceBufferPct + more }
        expect(overageOf(generous, used).blocks).toBeLessThanOrEqual(overageOf(plan, used).blocks)
      }),
      { numRuns: runs(100) },
    )
  })

  it('The overage is zero if calls are not limited', () => {
    fc.assert(
      fc.property(terms, calls, (plan, used) => {
        const unlimited = { ...plan, maxApiCalls: null }
        expect(overageOf(unlimited, used)).toEqual({ freeCalls: null, blocks: 0, eurCents: 0 })
      }),
      { numRuns: runs(100) },
    )
  })
})
