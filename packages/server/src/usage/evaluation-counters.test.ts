import { compileFlagSet, type FlagSet } from '@ff/core'
import { evaluateAll, evaluateSome } from '@ff/core/all-flags'
import { describe, expect, it } from 'vitest'
import { textFlag } from '../../test/seed.ts'
import { EnvironmentUsage } from './environment-usage.ts'
import { EvaluationCounters, type OwnCount } from './evaluation-counters.ts'

const user = { kind: 'user', key: 'user-1' }

function versionOf(flags: Record<string, string>, previous?: FlagSet): FlagSet {
  const definitions = Object.entries(flags).map(([key, value]) => textFlag(key, value))
  const version = (previous?.definition.version ?? 0) + 1
  return compileFlagSet({ version, flags: definitions, segments: [] }, { previous })
}

/** Returns sorted lines of the form `flagId source: count, micros`. */
function linesOf(counts: Iterable<OwnCount>): string[] {
  return [...counts]
    .map(({ flagId, source, count, micros }) => `${flagId} ${source}: ${count}, ${micros}`)
    .sort()
}

const idOf = (flagSet: FlagSet, key: string) => flagSet.flags.get(key)?.definition.id

/** Creates the usage of one environment, and a list of the counts that it has passed on. */
function usageOf() {
  const counts: OwnCount[] = []
  const usage = new EnvironmentUsage({
    addCount: (count) => counts.push(count),
    addRequests: () => undefined,
  })
  const evaluated = (flagSet: FlagSet, now = 0, keys?: readonly string[]) => {
    const evaluation = keys ? evaluateSome(flagSet, keys, user, 0) : evaluateAll(flagSet, user, 0)
    const scope = { environmentId: 'live', kind: 'server' } as const
    usage.add(scope, { flagSet, context: user, evaluation, micros: 1 }, { source: 'rest', now })
  }
  return { usage, counts, evaluated }
}

describe('EvaluationCounters', () => {
  it('Equal outcomes are added up, whether they are counted in sequence or separately', () => {
    const flagSet = versionOf({ banner: 'hello' })
    const banner = idOf(flagSet, 'banner')
    const counters = new EvaluationCounters(flagSet, 0)
    const shared = evaluateAll(flagSet, user, 0)
    for (let times = 0; times < 3; times += 1) counters.add(shared, 'poll', 10)
    counters.add(shared, 'ws', 1)
    counters.add(evaluateAll(flagSet, user, 0), 'poll', 5)
    counters.add(evaluateSome(flagSet, ['banner'], user, 0), 'poll', 2)
    const all = linesOf(counters.drain('live'))
    expect(all).toEqual([`${banner} poll: 5, 37`, `${banner} ws: 1, 1`])
    expect(linesOf(counters.drain('live'))).toEqual([])
  })

  it.each([
    ['one flag is changed', { alpha: '1', banner: 'other', claim: '1' }],
    ['a flag is removed', { alpha: '1', claim: '1' }],
    ['a flag is added before the others', { aaa: '1', alpha: '1', banner: 'other', claim: '1' }],
    ['a flag is added after the others', { alpha: '1', banner: 'other', claim: '1', zzz: '1' }],
  ])('Each flag is counted once per evaluation, even if %s', (_change, flags) => {
    const before = versionOf({ alpha: '1', banner: '1', claim: '1' })
    const after = versionOf(flags, before)
    const { usage, counts, evaluated } = usageOf()
    evaluated(before)
    evaluated(after, 0, ['claim'])
    counts.push(...usage.drain())
    const [alpha, banner, claim] = ['alpha', 'banner', 'claim'].map((key) => idOf(before, key))
    expect(linesOf(counts)).toEqual(
      [alpha, banner, claim, claim].map((flagId) => `${flagId} rest: 1, 1`).sort(),
    )
    expect([...usage.drain()]).toEqual([])
  })

  it('Each evaluation is counted in its minute', () => {
    const flagSet = versionOf({ banner: '1' })
    const { usage, counts, evaluated } = usageOf()
    for (const now of [0, 59_999, 60_000]) evaluated(flagSet, now)
    counts.push(...usage.drain())
    expect(
      counts.map(({ environmentId, minute, count }) => [environmentId, minute, count]),
    ).toEqual([
      ['live', '1970-01-01T00:00:00.000Z', 2],
      ['live', '1970-01-01T00:01:00.000Z', 1],
    ])
  })

  it('No evaluation is lost or counted twice if others are counted during a drain', () => {
    const before = versionOf({ alpha: '1', banner: '1', claim: '1', dialog: '1' })
    const after = versionOf({ aaa: '1', alpha: '1', claim: '1', dialog: '1' }, before)
    const { usage, counts, evaluated } = usageOf()
    evaluated(before)
    const draining = usage.drain()
    for (let turn = 0; turn < 2; turn += 1) {
      const next = draining.next()
      if (next.done !== true) counts.push(next.value)
    }
    evaluated(before)
    evaluated(after)
    counts.push(...draining)
    counts.push(...usage.drain())
    const timesOf = (flagSet: FlagSet, key: string) =>
      counts
        .filter(({ flagId }) => flagId === idOf(flagSet, key))
        .reduce((sum, { count }) => sum + count, 0)
    const times = ['alpha', 'banner', 'claim', 'dialog'].map((key) => timesOf(before, key))
    expect([...times, timesOf(after, 'aaa')]).toEqual([3, 2, 3, 3, 1])
  })
})
