import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  onSegment,
  ruleDefinition,
  segmentDefinition,
  withRule,
} from '../../test/definitions.ts'
import { resultsAlone, resultsTogether } from '../../test/single-results.ts'
import { valuesOf } from '../all-flags.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { FlagDefinition, SegmentDefinition } from '../model/definition.ts'
import { bucketOf } from '../rollouts/bucket.ts'
import { ruleMatrixOf } from './batch-cache.ts'
import { evaluateTogether } from './evaluate-all.ts'

function expectAsAlone(flagSet: FlagSet, contexts: readonly EvaluationContext[]): void {
  for (const context of contexts) {
    expect([context, resultsTogether(flagSet, context)]).toEqual([
      ...[context, resultsAlone(flagSet, context)],
    ])
  }
}

function compiled(flags: readonly FlagDefinition[], segments?: readonly SegmentDefinition[]) {
  return compileFlagSet(flagSetDefinition(flags, segments))
}

function namesOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}-${at}`)
}

describe('Large input', () => {
  it('The first of 5,000 targets that lists the key of the context is served', () => {
    const targets = namesOf('user', 5_000).map((key, at) => {
      return { kind: 'user', keys: [key, 'all'], variationId: at % 2 === 0 ? 'on' : 'off' }
    })
    const kinds = ['company', 'user', 'multi', 'kind', '__proto__'].map((kind) => {
      return { kind, keys: ['user-7', 'c'], variationId: 'on' }
    })
    const flagSet = compiled([
      flagDefinition('many', { targets }),
      flagDefinition('kinds', { targets: kinds }),
      flagDefinition('reversed', { targets: targets.toReversed() }),
    ])
    const users = [0, 1, 31, 32, 63, 64, 4_998, 4_999, 5_000].map((at) => `user-${at}`)
    const contexts = [...users, 'all', 'user-7', ''].flatMap((key): EvaluationContext[] => [
      { kind: 'user', key },
      { kind: 'multi', user: { key }, company: { key: 'c' } },
      { kind: 'company', key },
    ])
    expectAsAlone(flagSet, contexts)
  })

  it('The 20,000 keys of one target share one set of rule rows', () => {
    const keys = namesOf('user', 20_000)
    const flagSet = compiled([
      flagDefinition('f', { targets: [{ kind: 'user', keys, variationId: 'on' }] }),
    ])
    const served = (key: string) => {
      return valuesOf(evaluateTogether(flagSet, { kind: 'user', key }, 0))['f']
    }
    expect(['user-0', 'user-19999', 'user-20000', 'company-1'].map(served)).toEqual([
      ...[true, true, false, false],
    ])
    const [index] = ruleMatrixOf(flagSet).shards[0]?.group.index.values ?? []
    expect(new Set(index?.byText.values()).size).toBe(1)
  })

  it('Salts of up to 512 characters serve the bucket of the salt to keys of any length', () => {
    const ranges = [{ variationId: 'on', from: 0, to: 50_000 }]
    const salts = [0, 1, 2, 3, 4, 61, 62, 63, 64, 509, 510, 511, 512].map((length) => {
      return 'salt of a rollout '.repeat(30).slice(0, length)
    })
    const flags = [...salts, `${'x'.repeat(511)}é`].map((salt, at) => {
      const basis = { id: 'r', bucketBy: 'user.key', scheme: 'ff', strategy: 'percentage' } as const
      const rules = [ruleDefinition({ variationId: null, rolloutId: 'r' })]
      return flagDefinition(`f-${at + 10}`, { rules, rollouts: [{ ...basis, salt, ranges }] })
    })
    const flagSet = compiled(flags)
    for (const length of [1, 2, 3, 4, 5, 64, 255, 256, 257, 512]) {
      for (const text of ['key of a user ', 'é']) {
        const key = text.repeat(512).slice(0, length)
        const values = valuesOf(evaluateTogether(flagSet, { kind: 'user', key }, 0))
        const expected = flags.map(({ rollouts: [rollout] }) => {
          return bucketOf(rollout?.salt ?? '', key) < 50_000
        })
        expect([key, Object.values(values)]).toEqual([key, expected])
      }
    }
  })

  it('A chain of 64 nested segments matches the same contexts as single segments', () => {
    const isPro = { attribute: 'plan', operator: 'eq', value: 'pro' }
    const segments = Array.from({ length: 64 }, (_, at) => {
      const nested = onSegment(`["s-${at + 1}"]`)
      const contains = { attribute: 'plan', operator: 'contains', value: 'r' }
      const rules = at === 63 ? [isPro] : [nested, at % 3 === 0 ? contains : isPro]
      return segmentDefinition(`s-${at}`, {
        rules,
        logicalOp: at % 7 === 6 ? 'NOT' : at % 5 === 4 ? 'OR' : 'AND',
        included: at % 11 === 10 ? ['user-1'] : [],
        excluded: at % 13 === 12 ? ['user-2'] : [],
      })
    })
    const flags = segments.map(({ id }) => {
      return flagDefinition(id, { rules: [ruleDefinition({ segmentId: id })] })
    })
    const contexts = ['user-1', 'user-2', 'user-3'].flatMap((key) => {
      return ['pro', 'free', 'basic'].map((plan) => ({ kind: 'user', key, plan }))
    })
    const flagSet = compiled(flags, segments)
    expect(flagSet.malformed.size).toBe(0)
    expectAsAlone(flagSet, contexts)
    expectAsAlone(compiled(flags.slice(0, 1), segments), contexts)
    expectAsAlone(compiled(flags, segments.toReversed()), contexts)
  })

  it('Attributes of other types than the conditions compare match the same rules as alone', () => {
    const conditions = [
      ...[
        ['gt', '5'],
        ['lt', '5'],
        ['before', '5'],
        ['semver_lt', '2'],
        ['in_cidr', '0.0.0.0/0'],
      ],
      ...[
        ['not_in_cidr', '10.0.0.0/8'],
        ['eq', 'a'],
        ['neq', 'a'],
        ['exists', ''],
      ],
      ...[['in', '["1e999","Infinity"]']],
    ].flatMap(([operator = '', value = '']) => {
      return [false, true].map((negate) => ({ attribute: 'a', operator, value, negate }))
    })
    const flags = conditions.map((condition, at) => withRule(`f-${at + 10}`, condition))
    const values: readonly unknown[] = [
      ...[Infinity, -Infinity, NaN, 7n, Symbol('a'), () => 7, new Date(0), Object.create(null)],
      ...[[Infinity], [undefined], [[]], [[7]], 'a'.repeat(2_000), '1'.repeat(1_025), new Map()],
    ]
    const contexts = values.map((a) => ({ kind: 'user', key: 'user-1', a }))
    const flagSet = compiled(flags)
    for (const context of contexts as unknown as EvaluationContext[]) {
      expect(resultsTogether(flagSet, context)).toEqual(resultsAlone(flagSet, context))
    }
  })
})
