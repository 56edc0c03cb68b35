import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition, ruleDefinition } from '../../test/definitions.ts'
import { valuesOf } from '../all-flags.ts'
import { REASONS } from '../evaluation/detail.ts'
import { evaluateValue } from '../evaluation/evaluate.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { RolloutDefinition } from '../model/definition.ts'
import { bucketOf, compileSalt } from '../rollouts/bucket.ts'
import { rangesAt } from '../rollouts/rollout.ts'
import { ruleMatrixOf } from './batch-cache.ts'
import { evaluateTogether } from './evaluate-all.ts'
import { codeIn, compileOutcomeTable, NOTHING, PHASE } from './outcome-table.ts'

const basis = {
  id: 'r',
  bucketBy: 'user.key',
  salt: 'aB3dE5gH7jK',
  scheme: 'ff',
  strategy: 'percentage',
} as const

/** Returns `count` ranges for `on`, with gaps of the same width between them. */
const striped = (count: number) => {
  const width = Math.floor(100_000 / (2 * count))
  return Array.from({ length: count }, (_, index) => {
    return { variationId: 'on', from: 2 * index * width, to: (2 * index + 1) * width }
  })
}

const rollouts: readonly RolloutDefinition[] = [
  { ...basis, ranges: [{ variationId: 'on', from: 0, to: 50_000 }] },
  { ...basis, ranges: [{ variationId: 'on', from: 30_000, to: 60_000 }] },
  { ...basis, ranges: [{ variationId: 'on', from: 0, to: 100_000 }] },
  { ...basis, ranges: [] },
  ...[2, 15, 16, 17, 40].map((count) => ({ ...basis, ranges: striped(count) })),
  { ...basis, salt: 'another-one', ranges: striped(1) },
  { ...basis, salt: 'short', ranges: striped(1) },
  { ...basis, salt: 'nïve-salt-é', ranges: striped(1) },
  { ...basis, bucketBy: 'plan', ranges: striped(1) },
]

describe('compileOutcomeTable', () => {
  it('Rollouts in one outcome table serve the same values as rollouts that are evaluated one by one', () => {
    const flags = rollouts.map((rollout, index) => {
      const first = ruleDefinition({ variationId: null, rolloutId: 'r' })
      const plan = [{ attribute: 'plan', operator: 'eq', value: 'p-1' }]
      const rules = [
        { ...first, conditions: index % 2 === 0 ? [] : plan },
        ruleDefinition({ id: 'again', orderIndex: 1, variationId: null, rolloutId: 'r' }),
        ruleDefinition({ id: 'last', orderIndex: 2, conditions: plan }),
      ]
      return flagDefinition(`flag-${index + 10}`, { rules, rollouts: [rollout] })
    })
    const flagSet = compileFlagSet(flagSetDefinition(flags))
    for (let user = 0; user < 150; user += 1) {
      const context = { kind: 'user', key: `user-${user}`, plan: `p-${user % 4}` }
      const alone = flags.map(({ key }) => [key, evaluateValue(flagSet, key, context, 0)])
      expect({ ...valuesOf(evaluateTogether(flagSet, context, 0)) }).toEqual(
        Object.fromEntries(alone),
      )
    }
  })

  it('Rollouts in an outcome table include exactly the buckets of their ranges', () => {
    for (let user = 0; user < 20; user += 1) {
      const context = { kind: 'user', key: `user-${user}` }
      const bucket = bucketOf(basis.salt, context.key)
      const borders: [from: number, to: number, isServed: boolean][] = [
        [0, bucket, false],
        [0, bucket + 1, true],
        [bucket, 100_000, true],
        [bucket + 1, 100_000, false],
        [bucket, bucket + 1, true],
        [bucket - 1, bucket, false],
      ]
      const flags = borders.map(([from, to], index) => {
        const rollout = { ...basis, ranges: [{ variationId: 'on', from, to }] }
        const rules = [ruleDefinition({ variationId: null, rolloutId: 'r' })]
        return flagDefinition(`flag-${index}`, { rules, rollouts: [rollout] })
      })
      const flagSet = compileFlagSet(flagSetDefinition(flags))
      const served = Object.values(valuesOf(evaluateTogether(flagSet, context, 0)))
      expect(served).toEqual(borders.map(([, , isServed]) => isServed))
    }
  })

  /** Returns the outcome table of flags with a rollout for all contexts, one flag for each. */
  const tableOf = (definitions: readonly RolloutDefinition[]) => {
    const rules = [ruleDefinition({ variationId: null, rolloutId: 'r' })]
    const flags = definitions.map((rollout, index) => {
      return flagDefinition(`flag-${index + 10}`, { rules, rollouts: [rollout] })
    })
    const { ordered } = compileFlagSet(flagSetDefinition(flags))
    return compileOutcomeTable(ordered.map((flag) => flag.rules[0]?.serve))
  }
  const whole = { ...basis, ranges: [{ variationId: 'on', from: 0, to: 100_000 }] }
  const gradual: RolloutDefinition = {
    ...{ ...basis, strategy: 'gradual', variationId: 'on' },
    ...{ targetPercentage: 30, increment: 10, intervalHours: 1, startAt: '2026-01-01T00:00:00Z' },
  }

  it.each<[name: string, rollout: RolloutDefinition, phase: number]>([
    ['16 ranges', { ...basis, ranges: striped(16) }, 0],
    ['17 ranges', { ...basis, ranges: striped(17) }, -1],
    ['no salt', { ...whole, salt: '' }, 1],
    ['a salt of 1 character', { ...whole, salt: 'a' }, 2],
    ['a salt of 2 characters', { ...whole, salt: 'ab' }, 3],
    ['a salt of 3 characters', { ...whole, salt: 'abc' }, 0],
    ['a salt of 512 characters', { ...whole, salt: 'x'.repeat(512) }, 1],
    ['a salt that is not ASCII', { ...whole, salt: 'nïve-salt-é' }, -1],
    ['another bucketing key', { ...whole, bucketBy: 'plan', salt: 'ab' }, 4 + 3],
    ['another salt of the same length', { ...whole, salt: 'another-one' }, 0],
    ['a schedule', gradual, 0],
    ['an unknown scheme', { ...whole, scheme: 'other' }, NaN],
  ])('A rollout with %s after another rollout has the phase %3$d', (_, rollout, phase) => {
    const { entries, elsewhere, bucketingKeys } = tableOf([whole, rollout])
    const phaseOf = (entry = 0) => (entry >= 0 ? NaN : entries[~entry + PHASE])
    expect(phaseOf(entries[0])).toBe(0)
    expect(phaseOf(entries[1])).toBe(phase)
    expect(entries[1] === elsewhere).toBe(phase === -1)
    expect(bucketingKeys.map(({ name }) => name)).toEqual(
      phase === 4 + 3 ? ['user.key', 'plan'] : ['user.key'],
    )
  })

  it('Rollouts of another system have no outcome in the table', () => {
    const other = { ...whole, scheme: 'other' }
    const rules = [ruleDefinition({ variationId: null, rolloutId: 'r' })]
    const flag = flagDefinition('flag', { rules, rollouts: [other] })
    const extensions = { schemes: new Map([['other', () => () => 7]]) }
    const { ordered } = compileFlagSet(flagSetDefinition([flag]), { extensions })
    const { entries, elsewhere } = compileOutcomeTable([ordered[0]?.rules[0]?.serve])
    expect(entries[0]).toBe(elsewhere)
    expect(entries[~elsewhere + PHASE]).toBe(-1)
  })

  it('An outcome table contains the codes of rules without a rollout, and each rollout once', () => {
    const rules = [
      ruleDefinition({ id: 'first', variationId: null, rolloutId: 'r' }),
      ruleDefinition({ id: 'second', orderIndex: 1, variationId: 'on' }),
      ruleDefinition({ id: 'third', orderIndex: 2, variationId: null, rolloutId: 'r' }),
      ruleDefinition({ id: 'fourth', orderIndex: 3, variationId: null, rolloutId: 'absent' }),
    ]
    const rollout = { ...whole, salt: 'salt-of-ab' }
    const flag = flagDefinition('flag', { rules, rollouts: [rollout] })
    const flagSet = compileFlagSet(flagSetDefinition([flag]))
    const table = ruleMatrixOf(flagSet).shards[0]?.group.table
    const entries = [...(table?.entries ?? [])]
    const codes = (flagSet.ordered[0]?.rules ?? []).map(({ serve }) => {
      return 'outcome' in serve ? serve.outcome.code : undefined
    })
    // The rollout that stands for the rows elsewhere has seven numbers.
    const place = 4 + 7
    expect(entries.slice(0, 4)).toEqual([~place, codes[1], ~place, codes[3]])
    // The hash state, the phase, the rest of the salt, the length of the salt and the dot, the
    // number of ranges minus 1, the end of the range and its code.
    const { blocks } = compileSalt(rollout.salt).state
    const rest = 0x61 | (0x62 << 8) | (0x2e << 16)
    const code = ((0 + 1) << 3) | REASONS.indexOf('SPLIT')
    expect(entries.slice(place)).toEqual([blocks, 3, rest, 11, 0, 100_000, code])
    expect(table?.bucketingKeys.map(({ name }) => name)).toEqual(['user.key'])
  })

  it('Unused rows and rules that serve nothing have no outcome in the table', () => {
    const rules = [ruleDefinition({ variationId: null }), ruleDefinition({ orderIndex: 1 })]
    const flagSet = compileFlagSet(flagSetDefinition([flagDefinition('flag', { rules })]))
    const [nothing, last] = flagSet.ordered[0]?.rules ?? []
    const table = compileOutcomeTable([undefined, nothing?.serve, last?.serve])
    const { entries, elsewhere, bucketingKeys } = table
    expect([...entries.slice(0, 3)].map((entry) => entry === elsewhere)).toEqual([
      ...[true, true, false],
    ])
    expect(entries[~elsewhere + PHASE]).toBe(-1)
    expect(codeIn(entries, ~elsewhere, 0)).toBe(NOTHING)
    expect(bucketingKeys).toEqual([])
  })

  it('codeIn returns the code of the range that contains a bucket, and NOTHING for a gap', () => {
    const ranges = [
      { variationId: 'on', from: 1, to: 20 },
      { variationId: 'off', from: 20, to: 30 },
      { variationId: 'on', from: 31, to: 99_999 },
    ]
    const { entries } = tableOf([{ ...basis, ranges }])
    const place = ~(entries[0] ?? 0)
    const [on, off] = [codeIn(entries, place, 10), codeIn(entries, place, 20)]
    expect(new Set([on, off, NOTHING]).size).toBe(3)
    const expected: readonly (readonly [bucket: number, code: number])[] = [
      ...([
        [0, NOTHING],
        [1, on],
        [19, on],
        [20, off],
        [29, off],
      ] as const),
      ...([
        [30, NOTHING],
        [31, on],
        [99_998, on],
        [99_999, NOTHING],
      ] as const),
    ]
    for (const [bucket, code] of expected) {
      expect([bucket, codeIn(entries, place, bucket)]).toEqual([bucket, code])
    }
    // A gap at the beginning, three ranges with a gap, and a gap at the end.
    expect(entries.length - place).toBe(5 + 2 * 6)
  })

  /** Returns the end of the range of each rollout in a table at a point in time. */
  const endsAt = (
    { entries, schedule }: ReturnType<typeof tableOf>,
    count: number,
    now: number,
  ) => {
    schedule.resolve(entries, now)
    return Array.from({ length: count }, (_, row) => entries[~(entries[row] ?? 0) + 5])
  }
  const START = Date.parse('2026-01-01T00:00:00Z')
  const HOUR = 3_600_000

  it('The ends of gradual rollouts are set for any sequence of times, also backwards', () => {
    const rollouts: RolloutDefinition[] = [
      gradual,
      { ...gradual, startAt: '2026-01-01T00:30:00Z', increment: 7, intervalHours: 0.75 },
      { ...gradual, targetPercentage: 0 },
      whole,
    ]
    const table = tableOf(rollouts)
    const steps = [0, 0.5, 1, 1.25, 2, 2.75, 3, 3.5, 5]
    const times = [
      ...steps.flatMap((step) => [-1, 0, 1].map((off) => START + step * HOUR + off)),
      ...[-Infinity, Infinity, 0, NaN, START + 1.5 * HOUR],
    ]
    const mixed = times.map((_, at) => times[(7 * at) % times.length] ?? 0)
    const sequence = [...times, ...times.toReversed(), ...mixed]
    for (const now of sequence) {
      const expected = rollouts.map((rollout) => rangesAt(rollout, now)[0]?.to || 0)
      expect([now, endsAt(table, rollouts.length, now)]).toEqual([now, expected])
    }
  })

  it.each([
    ['before the first step', -2, -1],
    ['between two steps', 0, 0.99],
    ['after the last step', 3, 1000],
  ])('The ends of gradual rollouts are set once for a period %s', (_, from, to) => {
    const table = tableOf([gradual])
    const [end] = endsAt(table, 1, START + from * HOUR)
    const place = ~(table.entries[0] ?? 0) + 5
    table.entries[place] = -7
    expect(endsAt(table, 1, START + to * HOUR)).toEqual([-7])
    endsAt(table, 1, START + 1.5 * HOUR)
    expect(endsAt(table, 1, START + to * HOUR)).toEqual([end])
  })
})
