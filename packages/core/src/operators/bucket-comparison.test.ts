import { describe, expect, it } from 'vitest'
import { conditionFault } from '../authoring/condition-fault.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { Extensions } from '../model/extensions.ts'
import { compileCondition, matchesCondition } from './condition.ts'

function isIn(value: unknown, context: EvaluationContext, extensions?: Extensions): boolean {
  const definition = { attribute: 'user.key', operator: 'in_bucket', value: JSON.stringify(value) }
  return matchesCondition(compileCondition(definition, extensions), {
    context,
    isInSegment: () => false,
    servedVariation: () => undefined,
  })
}

describe('in_bucket', () => {
  const user = { kind: 'user', key: 'user-1' } as const

  it('in_bucket uses the buckets of a rollout with the same salt: user-1 has bucket 17502 under "checkout"', () => {
    expect(isIn({ salt: 'checkout', ranges: [[17502, 17503]] }, user)).toBe(true)
    expect(isIn({ salt: 'checkout', ranges: [[17503, 100_000]] }, user)).toBe(false)
    expect(isIn({ salt: 'checkout', ranges: [[0, 17502]] }, user)).toBe(false)
    expect(
      isIn(
        {
          salt: 'checkout',
          ranges: [
            [0, 7],
            [17000, 18000],
          ],
        },
        user,
      ),
    ).toBe(true)
    expect(isIn({ salt: 'checkout', ranges: [[17502, 17503]], scheme: 'ff' }, user)).toBe(true)
    expect(isIn({ salt: 'other', ranges: [[17502, 17503]] }, user)).toBe(false)
    expect(isIn({ salt: 'checkout', ranges: [] }, user)).toBe(false)
  })

  it('in_bucket reads the bucketing key in the same way as a rollout', () => {
    const everybody = { salt: 's', ranges: [[0, 100_000]] }
    expect(isIn(everybody, { kind: 'device', key: 7 })).toBe(true)
    expect(isIn(everybody, { kind: 'user', key: '' })).toBe(false)
    expect(isIn(everybody, { kind: 'user' })).toBe(false)
    expect(isIn(everybody, { kind: 'multi', organization: { key: 'acme' } })).toBe(false)
  })

  it('in_bucket uses the scheme of its value', () => {
    const schemes = new Map([['tens', () => (key: string) => key.length * 10]])
    const value = { salt: '', scheme: 'tens', ranges: [[60, 61]] }
    expect(isIn(value, user, { schemes })).toBe(true)
    expect(isIn(value, { kind: 'user', key: 'ada' }, { schemes })).toBe(false)
  })

  it('in_bucket passes the strategy of a rollout with fixed shares to the scheme', () => {
    const schemes = new Map([
      [
        'strategy',
        ({ strategy }: { strategy: string }) =>
          () =>
            Number(strategy === 'percentage'),
      ],
    ])
    const value = { salt: '', scheme: 'strategy', ranges: [[1, 2]] }
    expect(isIn(value, user, { schemes })).toBe(true)
  })

  it('in_bucket passes the total weight to the scheme', () => {
    const schemes = new Map([
      [
        'weights',
        ({ totalWeight = 100 }) =>
          () =>
            totalWeight - 1,
      ] as const,
    ])
    const isInFirst = (value: object) => {
      return isIn({ salt: '', scheme: 'weights', ranges: [[0, 7]], ...value }, user, { schemes })
    }
    expect(isInFirst({})).toBe(false)
    expect(isInFirst({ totalWeight: 7 })).toBe(true)
    expect(isInFirst({ totalWeight: 8 })).toBe(false)
    expect(isInFirst({ totalWeight: 1 })).toBe(true)
    expect(isInFirst({ totalWeight: 100_000 })).toBe(false)
    expect(isIn({ salt: 'checkout', ranges: [[17502, 17503]], totalWeight: 7 }, user)).toBe(true)
  })

  it.each([
    [{ salt: 's', ranges: [[0, 1]], totalWeight: 0 }],
    [{ salt: 's', ranges: [[0, 1]], totalWeight: -1 }],
    [{ salt: 's', ranges: [[0, 1]], totalWeight: 1.5 }],
    [{ salt: 's', ranges: [[0, 1]], totalWeight: 100_001 }],
    [{ salt: 's', ranges: [[0, 1]], totalWeight: '7' }],
    [{ salt: 's', ranges: [[0, 1]], totalWeight: null }],
    [{ ranges: [[0, 1]] }],
    [{ salt: 1, ranges: [[0, 1]] }],
    [{ salt: 's' }],
    [{ salt: 's', ranges: [0, 1] }],
    [{ salt: 's', ranges: [[0, 1, 2]] }],
    [{ salt: 's', ranges: [[0]] }],
    [{ salt: 's', ranges: [[1, 0]] }],
    [{ salt: 's', ranges: [[-1, 0]] }],
    [{ salt: 's', ranges: [[0, 100_001]] }],
    [{ salt: 's', ranges: [[0, 0.5]] }],
    [{ salt: 's', ranges: [['0', '1']] }],
    [
      {
        salt: 's',
        ranges: [
          [0, 5],
          [4, 6],
        ],
      },
    ],
    [
      {
        salt: 's',
        ranges: [
          [5, 6],
          [0, 1],
        ],
      },
    ],
    [{ salt: 's', ranges: [[0, 1]], scheme: 2 }],
    [{ salt: 's', ranges: [[0, 1]], sheme: 'ff' }],
    [[]],
    ['s'],
  ])('in_bucket refuses the value %j', (value) => {
    const definition = { attribute: 'key', operator: 'in_bucket', value: JSON.stringify(value) }
    expect(conditionFault(definition)).toMatch(/^The value of "in_bucket" must be a JSON object/)
    expect(isIn(value, user)).toBe(false)
  })
})
