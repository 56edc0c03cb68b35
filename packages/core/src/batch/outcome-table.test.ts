import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition, ruleDefinition } from '../../test/definitions.ts'
import { evaluateAll, valuesOf } from '../all-flags.ts'
import { evaluateValue } from '../evaluation/evaluate.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { RolloutDefinition } from '../model/definition.ts'
import { bucketOf } from '../rollouts/bucket.ts'

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
})
