import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import type { FlagDefinition, TargetDefinition } from '../model/definition.ts'
import { evaluateFlag } from './evaluate.ts'
import {
  compileFlagSet,
  compileIncrementally,
  type FlagSet,
  prepareDefinitions,
} from './flag-set.ts'
import { codeCountOf } from './outcome.ts'

const USER = { kind: 'user', key: 'user-1' }
const nothing = { variationId: null }
const all = {
  ...{ id: 'all', bucketBy: 'user.key', salt: 'checkout', scheme: 'ff' },
  ...{ strategy: 'percentage' as const, ranges: [{ variationId: 'on', from: 0, to: 100_000 }] },
}

/** Compiles a flag set with the flag `flag` and a few others, and evaluates the flag. */
function detail(changes: Partial<FlagDefinition>, context: object = USER) {
  const flags = [flagDefinition('flag', changes), flagDefinition('met'), flagDefinition('unmet')]
  const definition = flagSetDefinition(flags, [segmentDefinition('s', { force: true })])
  return evaluateFlag(compileFlagSet(definition), 'flag', context as typeof USER, 0)
}

describe('The order of rules', () => {
  const servedBy = (...rules: FlagDefinition['rules']) => detail({ rules }).ruleId
  const [early, late] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']

  it('Rules are evaluated by their order index first', () => {
    const first = ruleDefinition({ id: 'z', orderIndex: -1, createdAt: late })
    const second = ruleDefinition({ id: 'a', orderIndex: 2, createdAt: early })
    expect(servedBy(second, first)).toBe('z')
    expect(servedBy(first, second)).toBe('z')
  })

  it('Rules with the same order index are evaluated by the time of their creation, then by id', () => {
    const old = ruleDefinition({ id: 'z', createdAt: early })
    const recent = ruleDefinition({ id: 'a', createdAt: late })
    expect(servedBy(recent, old)).toBe('z')
    expect(servedBy(old, recent)).toBe('z')
    const same = ruleDefinition({ id: 'b', createdAt: early })
    expect(servedBy(old, same)).toBe('b')
    expect(servedBy(same, old)).toBe('b')
  })
})

describe('The reason of the default variation', () => {
  it('The reason is STATIC only for a flag without targets, rules and prerequisites', () => {
    expect(detail({}).reason).toBe('STATIC')
    expect(detail({ rules: [ruleDefinition(nothing)] }).reason).toBe('DEFAULT')
    const targets = [{ variationId: 'on', kind: 'user', keys: ['other'] }]
    expect(detail({ targets }).reason).toBe('DEFAULT')
    const prerequisites = [{ flagId: 'id of met', variationIds: ['off'] }]
    expect(detail({ prerequisites }).reason).toBe('DEFAULT')
  })
})

describe('Targets of a flag', () => {
  it('A target serves its variation with the reason TARGETING_MATCH', () => {
    const targets = [
      { variationId: 'off', kind: 'device', keys: ['user-1'] },
      { variationId: 'on', kind: 'user', keys: ['user-0', 'user-1'] },
    ]
    expect(detail({ targets })).toMatchObject({ value: true, reason: 'TARGETING_MATCH' })
    expect(detail({ targets }, { kind: 'user', key: 'user-2' }).value).toBe(false)
  })

  it('A target with a kind that is not text matches no context', () => {
    const targets = [{ variationId: 'on', kind: undefined, keys: ['user-1'] }]
    const odd = targets as unknown as readonly TargetDefinition[]
    expect(detail({ targets: odd }, { key: 'user-1', other: 1 }).value).toBe(false)
    expect(detail({ targets: odd }).reason).toBe('DEFAULT')
    const numeric = [{ variationId: 'on', kind: 7, keys: ['user-1'] }]
    const seventh = numeric as unknown as readonly TargetDefinition[]
    expect(detail({ targets: seventh }, { kind: 'multi', 7: { key: 'user-1' } }).value).toBe(false)
  })
})

describe('The detail of a rule', () => {
  it('A detail names the segment and the rollout of the rule that matched', () => {
    expect(detail({ rules: [ruleDefinition()] })).not.toHaveProperty('segmentId')
    const inSegment = detail({ rules: [ruleDefinition({ segmentId: 's' })] })
    expect(inSegment).toMatchObject({ reason: 'TARGETING_MATCH', ruleId: 'rule', segmentId: 's' })
    expect(inSegment).not.toHaveProperty('rolloutId')
    const rules = [
      ruleDefinition({ ...nothing, id: 'first' }),
      ruleDefinition({ orderIndex: 1, id: 'second', variationId: null, rolloutId: 'all' }),
    ]
    expect(detail({ rules, rollouts: [all] })).toMatchObject({
      ...{ reason: 'SPLIT', ruleId: 'second', rolloutId: 'all' },
      ...{ bucket: 17_502, range: { from: 0, to: 100_000 } },
    })
  })

  it('A detail names the prerequisite that is not met', () => {
    const prerequisites = [
      { flagId: 'id of met', variationIds: ['off'] },
      { flagId: 'id of unmet', variationIds: ['on'] },
    ]
    expect(detail({ prerequisites })).toMatchObject({ value: false, prerequisiteKey: 'unmet' })
    expect(detail({ prerequisites: prerequisites.slice(0, 1) })).not.toHaveProperty(
      'prerequisiteKey',
    )
  })
})

describe('A compiled flag', () => {
  const compile = (changes: Partial<FlagDefinition>) => {
    return compileFlagSet(flagSetDefinition([flagDefinition('flag', changes)])).flags.get('flag')
  }

  it('A flag has gradual rollouts only if its rules use them', () => {
    expect(compile({ rules: [ruleDefinition()] })?.gradualRollouts).toEqual([])
  })

  it('codeCountOf returns a number that is greater than every outcome code of a flag', () => {
    expect(codeCountOf({ variations: ['on', 'off'] })).toBe(24)
    expect(codeCountOf({ variations: [] })).toBe(8)
  })
})

describe('The interruptions of a compilation', () => {
  const chunks = (...flags: FlagDefinition[]) => {
    return [...prepareDefinitions(compileFlagSet(flagSetDefinition(flags)))].length
  }
  const flags = (count: number) => {
    return Array.from({ length: count }, (_, at) => flagDefinition(`flag-${at}`))
  }
  const withRules = (count: number) => {
    const conditions = [{ attribute: 'it', operator: 'exists', value: '' }]
    const rules = Array.from({ length: count }, (_, at) =>
      ruleDefinition({ id: `${at}`, conditions }),
    )
    return flagDefinition('flag', { rules })
  }
  const withValues = (...lengths: number[]) => {
    const conditions = lengths.map((length, at) => {
      return { attribute: 'it', operator: 'eq', value: `${at}`.repeat(length) }
    })
    return flagDefinition('flag', { rules: [ruleDefinition({ conditions })] })
  }
  const withTarget = (keys: number) => {
    const target = {
      variationId: 'on',
      kind: 'user',
      keys: Array.from({ length: keys }, (_, at) => `${at}`),
    }
    return flagDefinition('flag', { targets: [target] })
  }

  it('compileIncrementally yields after every 64 new definitions', () => {
    const count = (flags: FlagDefinition[], previous?: FlagSet) => {
      return [...compileIncrementally(flagSetDefinition(flags), { previous })].length
    }
    expect([63, 64, 127, 128].map((length) => count(flags(length)))).toEqual([0, 1, 1, 2])
    // In a large flag set, the search for dependencies and for timestamps are separate chunks.
    expect(count(flags(4096))).toBe(64 + 2)
    const known = flags(128)
    const previous = compileFlagSet(flagSetDefinition(known))
    expect(count([...known, ...flags(191).slice(128)], previous)).toBe(0)
    expect(count([...known, ...flags(192).slice(128)], previous)).toBe(1)
  })

  it('The compilation of all flags yields after every 16 flags without rules', () => {
    expect([15, 16, 31, 32].map((count) => chunks(...flags(count)))).toEqual([0, 1, 1, 2])
  })

  it('The compilation of a flag yields after every 64 conditions', () => {
    // The flag itself counts as much as 4 conditions.
    expect([59, 60, 123, 124].map((count) => chunks(withRules(count)))).toEqual([0, 1, 1, 2])
  })

  it('The compilation of a flag yields after about 4,000 characters of condition values', () => {
    expect(chunks(withValues(3775))).toBe(0)
    expect(chunks(withValues(3776))).toBe(1)
    expect(chunks(withValues(1900, 1900))).toBe(1)
    expect(chunks(withValues(5000, 5000, 5000))).toBe(3)
  })

  it('The compilation of a flag yields after about 4,000 keys of targets', () => {
    expect(chunks(withTarget(3839))).toBe(0)
    expect(chunks(withTarget(3840))).toBe(1)
  })
})
