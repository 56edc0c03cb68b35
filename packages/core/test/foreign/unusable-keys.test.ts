import { describe, expect, it } from 'vitest'
import {
  type ConditionDefinition,
  compileFlagSet,
  type EvaluationContext,
  evaluateFlag,
  evaluateValue,
} from '../../src/index.ts'
import { schemes } from '../../src/schemes.ts'
import { flagDefinition, flagSetDefinition, ruleDefinition } from '../definitions.ts'

const UNUSABLE = [undefined, null, 1.5, 2 ** 53, true, false, '', ['x'], { id: 1 }]

/** Returns a flag that serves `on` to all contexts with a usable `user.team`. */
function teamFlag(scheme: string, conditions: readonly ConditionDefinition[] = []) {
  const variationId = 'on'
  return flagDefinition('by-team', {
    rules: [ruleDefinition({ conditions, variationId: null, rolloutId: 'all' })],
    rollouts: [
      {
        id: 'all',
        bucketBy: 'user.team',
        salt: 'salt',
        scheme,
        strategy: 'variant',
        ranges: [{ variationId, from: 0, to: 100_000 }],
      },
    ],
  })
}

function contextOf(team: unknown): EvaluationContext {
  return { kind: 'user', key: 'u', ...(team !== undefined && { team }) } as EvaluationContext
}

describe.each([...schemes.keys()])('The scheme %s', (scheme) => {
  it('No scheme assigns a bucket if the attribute is missing, null, a fraction, a boolean or empty', () => {
    const flagSet = compileFlagSet(flagSetDefinition([teamFlag(scheme)]), {
      extensions: { schemes },
    })
    for (const team of UNUSABLE) {
      const { value, bucket, errorCode } = evaluateFlag(flagSet, 'by-team', contextOf(team), 0)
      expect([team, value, bucket, errorCode]).toEqual([
        team,
        false,
        undefined,
        'TARGETING_KEY_MISSING',
      ])
    }
    for (const team of ['x', '0', 0, 7]) {
      expect(evaluateValue(flagSet, 'by-team', contextOf(team), 0)).toBe(true)
    }
  })
})

describe('LaunchDarkly', () => {
  it('A second rule serves the first variation to contexts without a bucket', () => {
    const flag = flagDefinition('by-team', {
      ...teamFlag('launchdarkly'),
      type: 'string',
      variations: ['on', 'off', 'first'].map((key) => ({ id: key, key, value: key })),
    })
    const rules = [
      ...flag.rules,
      ruleDefinition({ id: 'second', orderIndex: 1, variationId: 'first' }),
    ]
    const definition = flagSetDefinition([{ ...flag, rules }])
    const flagSet = compileFlagSet(definition, { extensions: { schemes } })
    for (const team of UNUSABLE) {
      expect(evaluateValue(flagSet, 'by-team', contextOf(team), 0)).toBe('first')
    }
    expect(evaluateValue(flagSet, 'by-team', contextOf('x'), 0)).toBe('on')
  })
})

describe('GrowthBook', () => {
  it('The condition neq 0 excludes 0 as a number and as a text', () => {
    const conditions = [{ attribute: 'user.team', operator: 'neq', value: '0' }] as const
    const flag = teamFlag('growthbook-2', conditions)
    const flagSet = compileFlagSet(flagSetDefinition([flag]), { extensions: { schemes } })
    const values = [0, '0', 7, '7'].map((team) => {
      return evaluateValue(flagSet, 'by-team', contextOf(team), 0)
    })
    expect(values).toEqual([false, false, true, true])
  })
})
