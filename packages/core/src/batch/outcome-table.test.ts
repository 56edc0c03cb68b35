import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition, ruleDefinition } from '../../test/definitions.ts'
import { evaluateAll, valuesOf } from '../all-flags.ts'
import { evaluateValue } from '../evaluation/evaluate.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { RolloutDefinition } from '../model/definition.ts'
import { bucketOf } from '../rollouts/bucket.ts'
import { ruleMatrixOf } from './batch-cache.ts'
import { codeIn, compileOutcomeTable, ELSEWHERE, NOTHING } from './outcome-table.ts'

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
      expect({ ...valuesOf(evaluateAll(flagSet, context, 0)) }).toEqual(Object.fromEntries(alone))
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
      const served = Object.values(valuesOf(evaluateAll(flagSet, context, 0)))
      expect(served).toEqual(borders.map(([, , isServed]) => isServed))
    }
  })

  /** Returns the outcome table of flags with a rollout for all contexts, one flag for each. */
  const tableOf = (definitions: readonly RolloutDefinition[]) => {
    const rules = [ruleDefinition({ variationId: null, rolloutId: 'r' })]
    const flags = definitions.map((rollout, index) => {
      return flagDefinition(`flag-${index + 10}`, { rules, rollouts: [rollout] })
    })
    return ruleMatrixOf(compileFlagSet(flagSetDefinition(flags))).shards[0]?.group.table
  }
  const whole = { ...basis, ranges: [{ variationId: 'on', from: 0, to: 100_000 }] }
  const gradual: RolloutDefinition = {
    ...{ ...basis, strategy: 'gradual', variationId: 'on' },
    ...{ targetPercentage: 30, increment: 10, intervalHours: 1, startAt: '2026-01-01T00:00:00Z' },
  }

  it.each<[name: string, rollout: RolloutDefinition, isIncluded: boolean]>([
    ['16 ranges', { ...basis, ranges: striped(16) }, true],
    ['17 ranges', { ...basis, ranges: striped(17) }, false],
    ['a short salt', { ...whole, salt: 'short' }, false],
    ['a long salt', { ...whole, salt: `${basis.salt}L` }, false],
    ['a salt that is not ASCII', { ...whole, salt: 'nïve-salt-é' }, false],
    ['another bucketing key', { ...whole, bucketBy: 'plan' }, false],
    ['another salt of the same length', { ...whole, salt: 'another-one' }, true],
    ['a schedule', gradual, false],
  ])(
    'A second rollout with %s is in the outcome table only if the table supports it',
    (_, rollout, is) => {
      const entries = [...(tableOf([whole, rollout])?.entries ?? [])]
      expect(entries[0]).toBe(~2)
      expect(entries[1] === -1).toBe(!is)
      expect(entries.length > 2 + 4).toBe(is)
    },
  )

  it('An outcome table contains the codes of rules without a rollout, and each rollout once', () => {
    const rules = [
      ruleDefinition({ id: 'first', variationId: null, rolloutId: 'r' }),
      ruleDefinition({ id: 'second', orderIndex: 1, variationId: 'on' }),
      ruleDefinition({ id: 'third', orderIndex: 2, variationId: null, rolloutId: 'r' }),
      ruleDefinition({ id: 'fourth', orderIndex: 3, variationId: null, rolloutId: 'absent' }),
    ]
    const flag = flagDefinition('flag', { rules, rollouts: [whole] })
    const flagSet = compileFlagSet(flagSetDefinition([flag]))
    const table = ruleMatrixOf(flagSet).shards[0]?.group.table
    const entries = [...(table?.entries ?? [])]
    const codes = (flagSet.ordered[0]?.rules ?? []).map(({ serve }) => {
      return 'outcome' in serve ? serve.outcome.code : undefined
    })
    expect(entries.slice(0, 4)).toEqual([~4, codes[1], ~4, codes[3]])
    // The hash state, the number of ranges minus 1, the end of the range and its code.
    expect(entries).toHaveLength(4 + 4)
    expect(entries.slice(5, 7)).toEqual([0, 100_000])
    expect(table?.bucketBy?.name).toBe('user.key')
  })

  it('Unused rows and rules that serve nothing have no outcome in the table', () => {
    const rules = [ruleDefinition({ variationId: null }), ruleDefinition({ orderIndex: 1 })]
    const flagSet = compileFlagSet(flagSetDefinition([flagDefinition('flag', { rules })]))
    const [nothing, last] = flagSet.ordered[0]?.rules ?? []
    const { entries, bucketBy } = compileOutcomeTable([undefined, nothing, last])
    expect([...entries].map((entry) => entry === ELSEWHERE)).toEqual([true, true, false])
    expect(bucketBy).toBeUndefined()
  })

  it('codeIn returns the code of the range that contains a bucket, and NOTHING for a gap', () => {
    const ranges = [
      { variationId: 'on', from: 10, to: 20 },
      { variationId: 'off', from: 20, to: 30 },
      { variationId: 'on', from: 40, to: 50 },
    ]
    const entries = tableOf([{ ...basis, ranges }])?.entries ?? new Int32Array()
    const [on, off] = [codeIn(entries, 1, 10), codeIn(entries, 1, 20)]
    expect(new Set([on, off, NOTHING]).size).toBe(3)
    const expected: readonly (readonly [bucket: number, code: number])[] = [
      ...([
        [0, NOTHING],
        [9, NOTHING],
        [10, on],
        [19, on],
        [20, off],
        [29, off],
      ] as const),
      ...([
        [30, NOTHING],
        [39, NOTHING],
        [40, on],
        [49, on],
        [50, NOTHING],
      ] as const),
      [99_999, NOTHING],
    ]
    for (const [bucket, code] of expected) {
      expect([bucket, codeIn(entries, 1, bucket)]).toEqual([bucket, code])
    }
    // A gap at the beginning, three ranges with a gap, and a gap at the end.
    expect(entries).toHaveLength(1 + 2 + 2 * 6)
  })
})
