import { parseFlagValue } from '@ff/core'
import { describe, expect, it } from 'vitest'
import { sample } from '../contract/samples/samples.ts'
import { type FlagRecords, toFlagDefinition, toPublishedSegment } from './to-definitions.ts'

function records(fields: Partial<FlagRecords> = {}): FlagRecords {
  return {
    flag: sample('flag', { id: 'flag-1', key: 'checkout' }),
    state: sample('flagState', {
      isActive: true,
      offVariationId: null,
      targets: [],
      prerequisites: [],
    }),
    variations: [
      sample('variation', {
        id: 'v-2',
        key: 'off',
        value: 'false',
        orderIndex: 1,
        isDefault: true,
      }),
      sample('variation', { id: 'v-1', key: 'on', value: 'true', orderIndex: 0 }),
    ],
    rules: [],
    rollouts: [],
    ...fields,
  }
}

const place = { createdAt: '2026-01-02T00:00:00.000Z', orderIndex: 1 }

describe('toFlagDefinition', () => {
  it('A flag definition contains exactly the fields that evaluation reads', () => {
    expect(toFlagDefinition(records())).toEqual({
      id: 'flag-1',
      key: 'checkout',
      type: 'boolean',
      isActive: true,
      variations: [
        { id: 'v-1', key: 'on', value: 'true' },
        { id: 'v-2', key: 'off', value: 'false' },
      ],
      defaultVariationId: 'v-2',
      offVariationId: null,
      targets: [],
      prerequisites: [],
      rules: [],
      rollouts: [],
    })
    expect(parseFlagValue('boolean', 'true')).toBe(true)
  })

  it('The default variation comes from the environment, otherwise from the flag, otherwise it is the first', () => {
    const state = sample('flagState', { defaultVariationId: 'v-1' })
    expect(toFlagDefinition(records({ state })).defaultVariationId).toBe('v-1')
    const variations = records().variations.map((variation) => ({ ...variation, isDefault: false }))
    expect(toFlagDefinition(records({ variations })).defaultVariationId).toBe('v-1')
    expect(toFlagDefinition(records({ variations: [] })).defaultVariationId).toBe('')
  })

  it('Equal records result in equal text, independent of their order and their property order', () => {
    const rules = [
      sample('targetingRule', { id: 'r-4', ...place, orderIndex: 2 }),
      sample('targetingRule', { id: 'r-3', ...place }),
      sample('targetingRule', { id: 'r-2', ...place }),
      sample('targetingRule', { id: 'r-1', ...place, createdAt: '2026-01-03T00:00:00.000Z' }),
    ]
    const rollouts = [sample('rollout', { id: 'o-2' }), sample('rollout', { id: 'o-1' })]
    const original = records({ rules, rollouts })
    const reversed: FlagRecords = {
      ...original,
      flag: Object.fromEntries(Object.entries(original.flag).reverse()) as FlagRecords['flag'],
      variations: [...original.variations].reverse(),
      rules: [...rules].reverse(),
      rollouts: [...rollouts].reverse(),
    }
    const definition = toFlagDefinition(original)
    expect(definition.rules.map(({ id }) => id)).toEqual(['r-2', 'r-3', 'r-1', 'r-4'])
    expect(definition.rollouts.map(({ id }) => id)).toEqual(['o-1', 'o-2'])
    expect(JSON.stringify(toFlagDefinition(reversed))).toBe(JSON.stringify(definition))
  })

  it('A condition contains `negate` only if it is true', () => {
    const bare = { attribute: 'a', operator: 'eq', value: 'x' }
    const conditions = [{ ...bare, negate: false }, { negate: true, ...bare }, bare]
    const rule = toFlagDefinition(records({ rules: [sample('targetingRule', { conditions })] }))
      .rules[0]
    expect(JSON.stringify(rule?.conditions)).toBe(
      JSON.stringify([bare, { ...bare, negate: true }, bare]),
    )
  })

  it('A gradual rollout contains its schedule, and other rollouts contain their ranges', () => {
    const basis = { bucketBy: 'user.key', salt: 'aB3dE5gH7jK', scheme: 'ff' }
    const ranges = [{ variationId: 'v-1', from: 0, to: 25_000 }]
    const schedule = {
      variationId: 'v-1',
      targetPercentage: 50,
      increment: 5,
      intervalHours: 24,
      startAt: '2026-01-01T00:00:00.000Z',
    }
    const { rollouts } = toFlagDefinition(
      records({
        rollouts: [
          sample('rollout', { id: 'o-1', strategy: 'variant', ranges }),
          sample('rollout', { id: 'o-2', strategy: 'gradual', ranges: [], ...schedule }),
          sample('rollout', { id: 'o-3', strategy: 'gradual', variationId: null }),
        ],
      }),
    )
    expect(rollouts[0]).toEqual({ id: 'o-1', ...basis, strategy: 'variant', ranges })
    expect(rollouts[1]).toEqual({ id: 'o-2', ...basis, strategy: 'gradual', ...schedule })
    expect(rollouts[2]).toMatchObject({ strategy: 'gradual', variationId: '', startAt: '' })
  })
})

describe('toPublishedSegment', () => {
  it('A published segment contains exactly the fields that evaluation reads, without listed keys', () => {
    const segment = sample('segment', { id: 's-1' })
    expect(toPublishedSegment(segment)).toEqual({
      id: 's-1',
      key: segment.key,
      rules: segment.rules,
      logicalOp: 'OR',
      force: false,
      keyAttribute: 'user.key',
    })
  })
})
