import { compileFlagSet, type FlagSet } from '@ff/core'
import { evaluateAll, evaluateSome } from '@ff/core/all-flags'
import { describe, expect, it } from 'vitest'
import { textFlag } from '../../test/seed.ts'
import { EvaluationCounters } from './evaluation-counters.ts'

const user = { kind: 'user', key: 'user-1' }

function versionOf(flags: Record<string, string>, previous?: FlagSet): FlagSet {
  const definitions = Object.entries(flags).map(([key, value]) => textFlag(key, value))
  const version = (previous?.definition.version ?? 0) + 1
  return compileFlagSet({ version, flags: definitions, segments: [] }, { previous })
}

/** `id source: how often, how long`, for what the counters hand over. */
function told(handOver: (to: Parameters<EvaluationCounters['drain']>[0]) => void): string[] {
  const lines: string[] = []
  handOver(({ flagId, source, count, micros }) => {
    lines.push(`${flagId} ${source}: ${count}, ${micros}`)
  })
  return lines.sort()
}
const idOf = (flagSet: FlagSet, key: string) => flagSet.flags.get(key)?.definition.id

describe('counting evaluations', () => {
  it('adds up what many were told one after the other, and what each was told by itself', () => {
    const flagSet = versionOf({ banner: 'hello' })
    const banner = idOf(flagSet, 'banner')
    const counters = new EvaluationCounters(flagSet)
    const shared = evaluateAll(flagSet, user, 0)
    for (let times = 0; times < 3; times += 1) counters.add(shared, 'poll', 10)
    counters.add(shared, 'ws', 1)
    counters.add(evaluateAll(flagSet, user, 0), 'poll', 5)
    counters.add(evaluateSome(flagSet, ['banner'], user, 0), 'poll', 2)
    const all = told((to) => counters.drain(to))
    expect(all).toEqual([`${banner} poll: 5, 37`, `${banner} ws: 1, 1`])
    expect(told((to) => counters.drain(to))).toEqual([])
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
    expect(told((to) => counters.moveTo(after, to))).toEqual([`${banner} rest: 1, 1`])
    counters.add(evaluateSome(after, ['claim'], user, 0), 'rest', 1)
    const all = told((to) => counters.drain(to))
    expect(all).toEqual([`${alpha} rest: 1, 1`, `${claim} rest: 2, 2`])
    expect(told((to) => counters.drain(to))).toEqual([])
  })
})
