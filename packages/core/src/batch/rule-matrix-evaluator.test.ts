import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
  withRule,
} from '../../test/definitions.ts'
import { resultsAlone, resultsTogether } from '../../test/single-results.ts'
import { evaluateSome, valuesOf } from '../all-flags.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { FlagDefinition, RolloutDefinition } from '../model/definition.ts'
import { bucketOf } from '../rollouts/bucket.ts'
import { ruleMatrixOf } from './batch-cache.ts'
import { evaluateTogether } from './evaluate-all.ts'

const SALT = 'aB3dE5gH7jK'

/** Expects the same variations and reasons as the evaluation of single flags. */
function expectAsAlone(flagSet: FlagSet, context: EvaluationContext): void {
  const alone = resultsAlone(flagSet, context)
  expect([context, resultsTogether(flagSet, context)]).toEqual([context, alone])
}

function rolloutOf(changes: Partial<RolloutDefinition> = {}): RolloutDefinition {
  const ranges = [{ variationId: 'on', from: 0, to: 50_000 }]
  const rollout = { id: 'r', bucketBy: 'user.key', salt: SALT, scheme: 'ff' }
  return { ...rollout, strategy: 'percentage', ranges, ...changes } as RolloutDefinition
}

/** Returns a flag with a rollout for all contexts. */
function rolledOut(key: string, changes: Partial<RolloutDefinition> = {}): FlagDefinition {
  const rules = [ruleDefinition({ variationId: null, rolloutId: 'r' })]
  return flagDefinition(key, { rules, rollouts: [rolloutOf(changes)] })
}

const onPlan = (value: string) => ({ attribute: 'plan', operator: 'eq', value })

describe('Flags with many rules', () => {
  /** Returns a flag whose rule with the number `at` is for the plan `at`. */
  const flagOf = (key: string, count: number) => {
    const rules = Array.from({ length: count }, (_, at) => {
      const conditions = [onPlan(`${at}`)]
      return ruleDefinition({ id: `rule-${at}`, orderIndex: at, conditions })
    })
    return flagDefinition(key, { rules })
  }
  const counts = [1, 2, 30, 1, 31, 32, 33, 1, 63, 64, 65, 3, 97]
  const flags = counts.map((count, at) => flagOf(`flag-${at + 10}`, count))
  const flagSet = compileFlagSet(flagSetDefinition(flags))

  it('Each rule of a flag with up to 97 rules is found', () => {
    for (let plan = 0; plan < 100; plan += 1) {
      const context = { kind: 'user', key: 'user-1', plan: `${plan}` }
      const expected = counts.map((count) => plan < count)
      expect(Object.values(valuesOf(evaluateTogether(flagSet, context, 0)))).toEqual(expected)
    }
  })

  it('The rule rows of a flag are in one word or start at the beginning of a word', () => {
    const [shard] = ruleMatrixOf(flagSet).shards
    const spans = Array.from(shard?.group.spans ?? [])
    const starts = spans.filter((_, at) => at % 2 === 0)
    const ends = spans.filter((_, at) => at % 2 === 1)
    expect(starts).toEqual([0, 1, 32, 62, 64, 96, 128, 161, 192, 256, 320, 385, 416])
    expect(ends.map((end, at) => end - (starts[at] ?? 0))).toEqual(counts)
    expect(shard?.group.serves).toHaveLength(416 + 97)
  })

  it('Rules that serve nothing have no rule rows', () => {
    const rules = [
      ruleDefinition({ id: 'nothing', variationId: null }),
      ruleDefinition({ id: 'last', orderIndex: 1 }),
    ]
    const alone = compileFlagSet(flagSetDefinition([flagDefinition('flag', { rules })]))
    expect(ruleMatrixOf(alone).shards[0]?.group.serves).toHaveLength(1)
    expectAsAlone(alone, { kind: 'user', key: 'user-1' })
  })
})

describe('Rollouts', () => {
  const KEYS = ['user-1', 'ключ', 'user-2', undefined, 'x'.repeat(300), '', 7, 'user-3', 'user-1']

  /** Flags with rollouts by several attributes, with rules before and after the rollout. */
  const flags = Array.from({ length: 60 }, (_, at) => {
    const bucketBy = ['user.key', 'plan', 'user.key', 'country'][at % 4] ?? ''
    const salt = at % 7 === 6 ? 'short' : `${SALT.slice(0, 9)}${at + 10}`
    const rules = [
      ruleDefinition({ id: 'rollout', variationId: null, rolloutId: 'r' }),
      ruleDefinition({ id: 'second', orderIndex: 1, conditions: [onPlan('user-2')] }),
      ruleDefinition({ id: 'third', orderIndex: 2, variationId: null, rolloutId: 'other' }),
      ruleDefinition({ id: 'last', orderIndex: 3, conditions: [onPlan('pro')], variationId: 'on' }),
    ]
    const rollouts = [
      rolloutOf({ bucketBy, salt }),
      rolloutOf({ id: 'other', salt, ranges: [{ variationId: 'on', from: 30_000, to: 60_000 }] }),
    ]
    return flagDefinition(`flag-${at}`, { rules: rules.slice(at % 3), rollouts })
  })

  const expectForAllKeys = (flagSet: FlagSet) => {
    for (const [at, key] of KEYS.entries()) {
      for (const plan of [undefined, 'pro', KEYS[(at + 2) % KEYS.length]]) {
        const context = {
          kind: 'user',
          ...(key === undefined ? {} : { key }),
          ...(plan === undefined ? {} : { plan, country: `country-${at}` }),
        }
        expectAsAlone(flagSet, context)
      }
    }
  }

  it('Rollouts by several attributes serve the same variations as single rollouts, for any sequence of contexts', () => {
    expectForAllKeys(compileFlagSet(flagSetDefinition(flags)))
  })

  it('Rollouts in several shards serve the same variations as single rollouts, for any sequence of contexts', () => {
    const first = compileFlagSet(flagSetDefinition(flags))
    expectForAllKeys(first)
    const changed = flags.map((flag, at) => {
      return at % 4 === 1
        ? rolledOut(flag.key, { bucketBy: at % 8 === 1 ? 'plan' : 'user.key' })
        : flag
    })
    const second = compileFlagSet(flagSetDefinition(changed), { previous: first })
    expectForAllKeys(second)
    const third = compileFlagSet(
      flagSetDefinition(changed.with(5, rolledOut('flag-5', { bucketBy: 'country' }))),
      { previous: second },
    )
    expectForAllKeys(third)
    const shards = [first, second, third].map((flagSet) => ruleMatrixOf(flagSet).shards.length)
    expect(shards).toEqual([1, 2, 2])
    expectForAllKeys(first)
  })

  it('A context without a bucketing key is served by the rule after the rollout', () => {
    const rules = [
      ruleDefinition({ id: 'rollout', variationId: null, rolloutId: 'r' }),
      ruleDefinition({ id: 'last', orderIndex: 1 }),
    ]
    const nobody = rolloutOf({ ranges: [{ variationId: 'off', from: 0, to: 100_000 }] })
    const flag = flagDefinition('flag', { rules, rollouts: [nobody] })
    const flagSet = compileFlagSet(flagSetDefinition([flag]))
    const served = (context: EvaluationContext) =>
      valuesOf(evaluateTogether(flagSet, context, 0))['flag']
    expect(served({ kind: 'user', key: 'user-1' })).toBe(false)
    expect(served({ kind: 'user' })).toBe(true)
    expect(served({ kind: 'user', key: 'ключ' })).toBe(false)
    expect(served({ kind: 'user', key: '' })).toBe(true)
  })

  it('Each of 1 to 9 rollouts serves the bucket of its salt', () => {
    for (let count = 1; count <= 9; count += 1) {
      const salts = Array.from({ length: count }, (_, at) => `${SALT.slice(0, 10)}${at}`)
      const definitions = salts.map((salt, at) => rolledOut(`flag-${at}`, { salt }))
      const flagSet = compileFlagSet(flagSetDefinition(definitions))
      for (const key of ['user-1', 'user-2', 'user-3']) {
        const expected = salts.map((salt) => bucketOf(salt, key) < 50_000)
        const context = { kind: 'user', key }
        expect(Object.values(valuesOf(evaluateTogether(flagSet, context, 0)))).toEqual(expected)
      }
    }
  })
})

describe('Conditions and segments that are evaluated separately', () => {
  /** Returns a context and the number of times that its attributes have been read. */
  const countedContext = (plan: string, country: string) => {
    const reads = { plan: 0, country: 0 }
    const context: EvaluationContext = {
      kind: 'user',
      key: 'user-1',
      get plan() {
        reads.plan += 1
        return plan
      },
      get country() {
        reads.country += 1
        return country
      },
    }
    return { context, reads }
  }
  const onCountry = { attribute: 'country', operator: 'str_gt', value: 'a' }

  const readsOf = (flagSet: FlagSet, plan: string) => {
    const { context, reads } = countedContext(plan, 'abc')
    evaluateTogether(flagSet, context, 0)
    return reads.country
  }

  it('A segment is evaluated once for all rules, and only if a rule that may match requires it', () => {
    const segment = segmentDefinition('s', { rules: [onCountry] })
    const flags = Array.from({ length: 12 }, (_, at) => {
      const rules = [ruleDefinition({ segmentId: 's', conditions: [onPlan('pro')] })]
      return flagDefinition(`flag-${at + 10}`, { rules })
    })
    const first = compileFlagSet(flagSetDefinition(flags, [segment]))
    const single = compileFlagSet(flagSetDefinition(flags.slice(0, 1), [segment]))
    expect(readsOf(single, 'pro')).toBeGreaterThan(0)
    expect(readsOf(first, 'free')).toBe(0)
    expect(readsOf(first, 'pro')).toBe(readsOf(single, 'pro'))
    const changed = flags.map((flag, at) => (at === 5 ? { ...flag, offVariationId: 'on' } : flag))
    const second = compileFlagSet(flagSetDefinition(changed, [segment]), { previous: first })
    expect(readsOf(second, 'pro')).toBe(readsOf(single, 'pro'))
    expect(ruleMatrixOf(second).shards).toHaveLength(2)
  })

  it('A condition is evaluated once for all rules, and only if a rule that may match requires it', () => {
    const flags = Array.from({ length: 12 }, (_, at) => {
      return withRule(`flag-${at + 10}`, onPlan('pro'), onCountry)
    })
    const single = compileFlagSet(flagSetDefinition(flags.slice(0, 1)))
    const flagSet = compileFlagSet(flagSetDefinition(flags))
    expect(readsOf(single, 'free')).toBe(0)
    expect(readsOf(single, 'pro')).toBeGreaterThan(0)
    expect(readsOf(flagSet, 'free')).toBe(0)
    expect(readsOf(flagSet, 'pro')).toBe(readsOf(single, 'pro'))
  })

  it('The values that a segment depends on are read only if a rule that may match requires it', () => {
    const segments = ['a', 'b'].map((id) => {
      const attribute = id === 'a' ? 'country' : 'other'
      return segmentDefinition(id, { rules: [{ attribute, operator: 'eq', value: 'abc' }] })
    })
    const requiring = (segmentId: string, plan: string) => {
      return flagDefinition(`${segmentId} ${plan}`, {
        rules: [ruleDefinition({ segmentId, conditions: [onPlan(plan)] })],
      })
    }
    const flags = [requiring('a', 'pro'), requiring('b', 'free')]
    const flagSet = compileFlagSet(flagSetDefinition(flags, segments))
    expect([readsOf(flagSet, 'free'), readsOf(flagSet, 'pro')]).toEqual([0, 1])
  })

  it('A value is read only if a rule that may match depends on it', () => {
    const onlyCountry = { attribute: 'country', operator: 'contains', value: 'a' }
    const flagSet = compileFlagSet(
      flagSetDefinition([
        withRule('both', onlyCountry, onPlan('pro')),
        withRule('plan', onPlan('pro')),
      ]),
    )
    expect(readsOf(flagSet, 'free')).toBe(0)
    expect(readsOf(flagSet, 'pro')).toBe(1)
  })

  it('A segment that depends only on the text of attributes is not evaluated separately', () => {
    const rules = [{ attribute: 'country', operator: 'eq', value: 'abc' }]
    const flag = flagDefinition('flag', { rules: [ruleDefinition({ segmentId: 's' })] })
    const segment = segmentDefinition('s', { rules })
    expect(readsOf(compileFlagSet(flagSetDefinition([flag], [segment])), 'pro')).toBe(1)
  })

  it('The bucketing key is read once for all rollouts of a context', () => {
    const ranges = [{ variationId: 'on', from: 0, to: 100_000 }]
    const flags = Array.from({ length: 12 }, (_, at) => {
      const salt = `${SALT.slice(0, 9)}${at + 10}`
      return rolledOut(`flag-${at + 10}`, { bucketBy: 'country', salt, ranges })
    })
    const first = compileFlagSet(flagSetDefinition(flags))
    expect([readsOf(first, 'pro'), readsOf(first, 'pro')]).toEqual([1, 1])
    const changed = flags.with(5, { ...flags[5], offVariationId: 'on' } as FlagDefinition)
    const second = compileFlagSet(flagSetDefinition(changed), { previous: first })
    expect(ruleMatrixOf(second).shards).toHaveLength(2)
    expect([readsOf(second, 'pro'), readsOf(second, 'pro')]).toEqual([1, 1])
  })

  it('evaluateSome evaluates up to 16 flags one by one, and more flags with the rule matrix if there is one', () => {
    const onCountryText = { attribute: 'country', operator: 'eq', value: 'abc' }
    const keys = Array.from({ length: 40 }, (_, at) => `flag-${at + 10}`)
    const flagSet = compileFlagSet(
      flagSetDefinition(keys.map((key) => withRule(key, onCountryText))),
    )
    const readsFor = (count: number) => {
      const { context, reads } = countedContext('pro', 'abc')
      evaluateSome(flagSet, keys.slice(0, count), context, 0)
      return reads.country
    }
    expect(readsFor(16)).toBe(16)
    expect(readsFor(17)).toBe(17)
    ruleMatrixOf(flagSet)
    expect(readsFor(16)).toBe(16)
    expect(readsFor(17)).toBe(1)
  })

  it('The result of a segment for a context does not depend on earlier contexts', () => {
    const segments = [
      segmentDefinition('separate', { rules: [onCountry] }),
      segmentDefinition('together', { rules: [onPlan('pro')] }),
      segmentDefinition('none', { rules: [onPlan('pro'), onPlan('free')], logicalOp: 'NOT' }),
      segmentDefinition('any', { rules: [onPlan('pro'), onPlan('free')], logicalOp: 'OR' }),
      segmentDefinition('listed', { included: ['user-1'], excluded: ['user-2'], force: true }),
    ]
    const flags = [...segments.map(({ id }) => id), 'absent'].map((segmentId) => {
      return flagDefinition(segmentId, { rules: [ruleDefinition({ segmentId })] })
    })
    const flagSet = compileFlagSet(flagSetDefinition(flags, segments))
    for (const plan of ['pro', 'free', 'other', undefined, 'pro', undefined]) {
      for (const country of ['abc', 'xyz', undefined, 'abc']) {
        for (const key of ['user-1', 'user-2', 'user-3']) {
          const present = Object.entries({ plan, country }).filter(([, value]) => value)
          expectAsAlone(flagSet, { kind: 'user', key, ...Object.fromEntries(present) })
        }
      }
    }
  })
})
