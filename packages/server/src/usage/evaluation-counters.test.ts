import { compileFlagSet, type FlagSet } from '@ff/core'
import { evaluateAll, evaluateSome } from '@ff/core/all-flags'
import { describe, expect, it } from 'vitest'
import { textFlag } from '../../test/seed.ts'
import { EvaluationCounters, type FlagCount } from './evaluation-counters.ts'

const user = { kind: 'user', key: 'user-1' }

function versionOf(flags: Record<string, string>, previous?: FlagSet): FlagSet {
  const definitions = Object.entries(flags).map(([key, value]) => textFlag(key, value))
  const version = (previous?.definition.version ?? 0) + 1
  return compileFlagSet({ version, flags: definitions, segments: [] }, { previous })
}

/** `id source: how often, how long`. */
function linesOf(counts: Iterable<FlagCount>): string[] {
  return [...counts]
    .map(({ flagId, source, count, micros }) => `${flagId} ${source}: ${count}, ${micros}`)
    .sort()
}

const idOf = (flagSet: FlagSet, key: string) => flagSet.flags.get(key)?.definition.id

describe('counting evaluations', () => {
  it('adds up equal outcomes that follow each other, and each outcome by itself', () => {
    const flagSet = versionOf({ banner: 'hello' })
    const banner = idOf(flagSet, 'banner')
    const counters = new EvaluationCounters(flagSet)
    const shared = evaluateAll(flagSet, user, 0)
    for (let times = 0; times < 3; times += 1) counters.add(shared, 'poll', 10)
    counters.add(shared, 'ws', 1)
    counters.add(evaluateAll(flagSet, user, 0), 'poll', 5)
    counters.add(evaluateSome(flagSet, ['banner'], user, 0), 'poll', 2)
    const all = linesOf(counters.drain())
    expect(all).toEqual([`${banner} poll: 5, 37`, `${banner} ws: 1, 1`])
    expect(linesOf(counters.drain())).toEqual([])
  })

  it.each([
    ['one flag is changed', { alpha: '1', banner: 'other', claim: '1' }],
    ['a flag is removed', { alpha: '1', claim: '1' }],
    ['a flag is added before the others', { aaa: '1', alpha: '1', banner: 'other', claim: '1' }],
    ['a flag is added behind the others', { alpha: '1', banner: 'other', claim: '1', zzz: '1' }],
  ])('goes on for the flags that are the same when %s', (_what, flags) => {
    const before = versionOf({ alpha: '1', banner: '1', claim: '1' })
    const counters = new EvaluationCounters(before)
    counters.add(evaluateAll(before, user, 0), 'rest', 1)
    const after = versionOf(flags, before)
    const [alpha, banner, claim] = ['alpha', 'banner', 'claim'].map((key) => idOf(before, key))
    expect(linesOf(counters.moveTo(after))).toEqual([`${banner} rest: 1, 1`])
    counters.add(evaluateSome(after, ['claim'], user, 0), 'rest', 1)
    const all = linesOf(counters.drain())
    expect(all).toEqual([`${alpha} rest: 1, 1`, `${claim} rest: 2, 2`])
    expect(linesOf(counters.drain())).toEqual([])
  })

  it('loses nothing and counts nothing twice when more is counted during a drain', () => {
    const before = versionOf({ alpha: '1', banner: '1', claim: '1', dialog: '1' })
    const after = versionOf({ aaa: '1', alpha: '1', claim: '1', dialog: '1' }, before)
    const counters = new EvaluationCounters(before)
    const counts: FlagCount[] = []
    counters.add(evaluateAll(before, user, 0), 'rest', 1)
    const draining = counters.drain()
    for (let turn = 0; turn < 2; turn += 1) {
      const next = draining.next()
      if (next.done !== true) counts.push(next.value)
    }
    counters.add(evaluateAll(before, user, 0), 'rest', 1)
    counts.push(...counters.moveTo(after))
    counters.add(evaluateAll(after, user, 0), 'rest', 1)
    counts.push(...draining)
    expect(counters.hasNews).toBe(true)
    counts.push(...counters.drain())
    expect(counters.hasNews).toBe(false)
    const timesOf = (flagSet: FlagSet, key: string) =>
      counts
        .filter(({ flagId }) => flagId === idOf(flagSet, key))
        .reduce((sum, { count }) => sum + count, 0)
    const times = ['alpha', 'banner', 'claim', 'dialog'].map((key) => timesOf(before, key))
    expect([...times, timesOf(after, 'aaa')]).toEqual([3, 2, 3, 3, 1])
  })

  it('says that it has more when a removed flag has moved the others past the one looked at', () => {
    const before = versionOf({ alpha: '1', banner: '1', claim: '1' })
    const counters = new EvaluationCounters(before)
    counters.add(evaluateAll(before, user, 0), 'rest', 1)
    const draining = counters.drain()
    draining.next()
    draining.next()
    counters.moveTo(versionOf({ banner: '1', claim: '1' }, before))
    expect([...draining]).toEqual([])
    expect(counters.hasNews).toBe(true)
    expect(linesOf(counters.drain())).toEqual([`${idOf(before, 'claim')} rest: 1, 1`])
  })
})
