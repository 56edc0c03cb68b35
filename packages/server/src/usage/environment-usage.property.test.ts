import { compileFlagSet, type FlagSet } from '@ff/core'
import { evaluateAll } from '@ff/core/all-flags'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { textFlag } from '../../test/seed.ts'
import { EnvironmentUsage } from './environment-usage.ts'
import type { OwnCount } from './evaluation-counters.ts'

const user = { kind: 'user', key: 'user-1' }
const MINUTE_MS = 60_000

function versionOf(flags: readonly string[], previous?: FlagSet): FlagSet {
  const definitions = flags.map((key) => textFlag(key, 'x'))
  const version = (previous?.definition.version ?? 0) + 1
  return compileFlagSet({ version, flags: definitions, segments: [] }, { previous })
}

const BEFORE = versionOf(['alpha', 'banner'])
const AFTER = versionOf(['aaa', 'alpha', 'banner'], BEFORE)

const step = fc.oneof(
  fc.record({
    does: fc.constant('evaluate' as const),
    environmentId: fc.constantFrom('live', 'test'),
    kind: fc.constantFrom('client' as const, 'server' as const),
    isNew: fc.boolean(),
  }),
  fc.record({ does: fc.constant('wait' as const), minutes: fc.constantFrom(1, 1, 2, 16) }),
  fc.record({ does: fc.constant('begin again' as const) }),
  fc.record({ does: fc.constant('take' as const), count: fc.integer({ min: 1, max: 6 }) }),
)

it('Every evaluation is counted once, whatever is evaluated while counts are taken', () => {
  const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const counts: OwnCount[] = []
    const usage = new EnvironmentUsage({
      addCount: (count) => counts.push(count),
      addRequests: () => undefined,
    })
    let now = 0
    let evaluated = 0
    let taking = usage.drain()
    const take = () => {
      const next = taking.next()
      if (next.done !== true) counts.push(next.value)
    }
    for (const each of steps) {
      if (each.does === 'wait') now += each.minutes * MINUTE_MS
      else if (each.does === 'begin again') {
        taking.return()
        taking = usage.drain()
      } else if (each.does === 'take') {
        for (let left = each.count; left > 0; left -= 1) take()
      } else {
        const { isNew, ...scope } = each
        const flagSet = isNew ? AFTER : BEFORE
        const evaluation = evaluateAll(flagSet, user, 0)
        const source = { source: 'rest', now } as const
        usage.add(scope, { flagSet, context: user, evaluation, micros: 1 }, source)
        evaluated += flagSet.ordered.length
      }
    }
    taking.return()
    counts.push(...usage.drain())
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(evaluated)
    expect(usage.hasCounts).toBe(false)
  })
  fc.assert(property, { numRuns: runs(3000) })
})
