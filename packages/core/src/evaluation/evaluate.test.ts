import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  withRule,
} from '../../test/definitions.ts'
import {
  detailsOf,
  evaluateSome,
  jsonOf,
  onlyFlags,
  reasonAt,
  valuesOf,
  variationAt,
} from '../all-flags.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import { evaluateCode, evaluateFlag, evaluateValue } from './evaluate.ts'
import { compileFlagSet } from './flag-set.ts'
import { reasonOf, servedBy } from './outcome.ts'

const flagSet = compileFlagSet(
  flagSetDefinition([
    flagDefinition('__proto__'),
    flagDefinition('10'),
    flagDefinition('9', { rules: [ruleDefinition()] }),
    flagDefinition('null', { variations: [] }),
  ]),
)
const user = { kind: 'user', key: 'user-1' }

describe('evaluateFlag', () => {
  it('evaluateFlag returns FLAG_NOT_FOUND for an unknown key', () => {
    for (const flagKey of ['unknown', 'constructor', 'toString', '']) {
      expect(evaluateFlag(flagSet, flagKey, user, 0)).toEqual({
        flagKey,
        value: null,
        variationId: null,
        variationKey: null,
        reason: 'ERROR',
        errorCode: 'FLAG_NOT_FOUND',
      })
    }
  })

  it('A detail omits the fields that do not apply', () => {
    expect(evaluateFlag(flagSet, '9', user, 0)).toStrictEqual({
      flagKey: '9',
      value: true,
      variationId: 'on',
      variationKey: 'on',
      reason: 'TARGETING_MATCH',
      ruleId: 'rule',
    })
  })
})

describe('evaluateSome', () => {
  it('evaluateSome evaluates each known key once, in the order of the flag set', () => {
    const evaluation = evaluateSome(flagSet, ['9', 'unknown', '10', '9'], user, 0)
    expect(detailsOf(evaluation).map(({ flagKey }) => flagKey)).toEqual(['10', '9'])
    expect(jsonOf(evaluateSome(flagSet, [], user, 0))).toBe('{}')
  })
})

describe('evaluateCode', () => {
  it('evaluateCode returns the code of the variation and the reason of the detail', () => {
    for (const flag of flagSet.ordered) {
      const code = evaluateCode(flagSet, flag, user, 0)
      const { variationId, reason } = evaluateFlag(flagSet, flag.key, user, 0)
      expect(flag.variations[servedBy(code) - 1]?.id ?? null).toBe(variationId)
      expect(reasonOf(code)).toBe(reason)
    }
  })
})

describe('evaluateValue', () => {
  it('evaluateValue returns null for an unknown key and if no variation can be served', () => {
    expect(evaluateValue(flagSet, '9', user, 0)).toBe(true)
    expect(evaluateValue(flagSet, '10', user, 0)).toBe(false)
    expect(evaluateValue(flagSet, 'null', user, 0)).toBe(null)
    expect(evaluateValue(flagSet, 'unknown', user, 0)).toBe(null)
  })

  it('evaluateValue returns the default of a flag that needs a segment that does not exist', () => {
    const rules = [ruleDefinition({ segmentId: 'gone' })]
    const malformed = compileFlagSet(flagSetDefinition([flagDefinition('a', { rules })]))
    expect(evaluateValue(malformed, 'a', user, 0)).toBe(false)
  })

  it('A condition on a flag that serves no variation treats the variation as missing', () => {
    const isOn = { attribute: 'null', operator: 'flag_is', value: 'on' }
    const flags = [
      withRule('a', isOn),
      withRule('b', { ...isOn, operator: 'flag_is_not' }),
      flagDefinition('null', { variations: [] }),
    ]
    const dependent = compileFlagSet(flagSetDefinition(flags))
    const unknown = compileFlagSet(flagSetDefinition(flags.slice(0, -1)))
    for (const key of ['a', 'b']) {
      const value = evaluateValue(unknown, key, user, 0)
      expect(evaluateValue(dependent, key, user, 0)).toBe(value)
    }
    expect(evaluateValue(dependent, 'a', user, 0)).toBe(false)
  })
})

describe('evaluateSome for many flags', () => {
  const keys = Array.from({ length: 40 }, (_, index) => `flag-${index + 10}`)
  const many = compileFlagSet(
    flagSetDefinition(
      keys.map((key, index) => {
        return flagDefinition(key, { rules: index % 3 === 0 ? [ruleDefinition()] : [] })
      }),
    ),
  )

  it.each([0, 1, 15, 16, 17, 39, 40])(
    'evaluateSome for %d flags returns the same results as evaluateTogether',
    (count) => {
      const some = keys.slice(keys.length - count)
      const entries = some.map((key) => [key, keys.indexOf(key) % 3 === 0] as const)
      const expected = Object.fromEntries(entries)
      // The result must not depend on earlier evaluations.
      evaluateTogether(many, {}, 0)
      const all = evaluateTogether(many, user, 0)
      const evaluation = evaluateSome(many, ['unknown', ...some.toReversed()], user, 0)
      for (const each of [evaluation, onlyFlags(all, (key) => some.includes(key))]) {
        expect(each.flags.map(({ key }) => key)).toEqual(some)
        expect({ ...valuesOf(each) }).toEqual(expected)
        expect(jsonOf(each)).toBe(JSON.stringify(expected))
        expect(some.map((_, index) => variationAt(each, index)?.value)).toEqual(
          Object.values(expected),
        )
      }
      expect(variationAt(evaluation, count)).toBeUndefined()
    },
  )
})

describe('valuesOf', () => {
  const valuesFor = (keys: readonly string[], previous = flagSet) => {
    const definition = flagSetDefinition(keys.map((key) => flagDefinition(key)))
    const next = compileFlagSet(definition, { previous })
    const values = valuesOf(evaluateTogether(next, user, 0))
    expect(Object.entries(values)).toEqual(keys.map((key) => [key, false]))
    expect(jsonOf(evaluateTogether(next, user, 0))).toBe(JSON.stringify(values))
    return next
  }

  it('valuesOf and jsonOf return exactly the flags of the evaluated version, after any earlier version', () => {
    let previous = flagSet
    const lists = ['ab', 'abc', 'abd', 'abd', 'bd', 'b', '', 'c', 'abcde', 'abcdefghi']
    for (const list of lists) previous = valuesFor([...list], previous)
  })

  it('valuesOf returns a new object for each evaluation, which can be modified', () => {
    const set = valuesFor(['a', 'b'])
    const values = valuesOf(evaluateTogether(set, user, 0)) as Record<string, unknown>
    values['a'] = 'changed'
    values['c'] = 'added'
    expect(valuesOf(evaluateTogether(set, user, 0))).toEqual({ a: false, b: false })
  })

  it('valuesOf contains all values of a very large flag set', () => {
    for (const count of [1_019, 1_020, 1_021, 1_500]) {
      valuesFor(Array.from({ length: count }, (_, index) => `flag-${index + 10_000}`))
    }
  })
})

describe('A flag with more rules than a word has bits', () => {
  const noBuckets = {
    id: 'nobody',
    strategy: 'percentage',
    bucketBy: 'user.key',
    salt: 'aB3dE5gH7jK',
    scheme: 'ff',
    ranges: [],
  } as const
  const forPlan = (plan: string, orderIndex: number, changes = {}) => {
    const conditions = [{ attribute: 'plan', operator: 'eq', value: plan }]
    return ruleDefinition({ id: `${orderIndex}`, orderIndex, conditions, ...changes })
  }
  const long = compileFlagSet(
    flagSetDefinition(
      ['a', 'b', 'c'].map((key) => {
        const rules = Array.from({ length: 70 }, (_, index) => forPlan(`${index}`, index + 1))
        const serveNobody = forPlan('40', 0, { variationId: null, rolloutId: 'nobody' })
        return flagDefinition(key, { rules: [serveNobody, ...rules], rollouts: [noBuckets] })
      }),
    ),
  )

  it.each([
    ['0', true],
    ['31', true],
    ['32', true],
    ['40', true],
    ['69', true],
    ['70', false],
  ])(
    'For the plan %s, a flag with 71 rules serves %j, the value of the first rule that matches',
    (plan, served) => {
      const context = { kind: 'user', key: 'user-1', plan }
      const values = valuesOf(evaluateTogether(long, context, 0))
      expect({ ...values }).toEqual({ a: served, b: served, c: served })
    },
  )
})

describe('An evaluation of all flags', () => {
  const evaluation = evaluateTogether(flagSet, user, 0)

  it('variationAt returns the variation that each flag serves', () => {
    expect(evaluation.flags.map(({ key }) => key)).toEqual(['10', '9', '__proto__', 'null'])
    const variations = evaluation.flags.map((_, index) => variationAt(evaluation, index)?.index)
    expect(variations).toEqual([1, 0, 1, undefined])
    const reasons = evaluation.flags.map((_, index) => reasonAt(evaluation, index))
    expect(reasons).toEqual(['STATIC', 'TARGETING_MATCH', 'STATIC', 'ERROR'])
  })

  it('valuesOf returns an object without inherited properties, in which any key is safe', () => {
    const values = valuesOf(evaluation)
    for (const name of ['toString', 'constructor', 'hasOwnProperty']) {
      expect(name in values).toBe(false)
    }
    expect(Object.keys(values).sort()).toEqual(['10', '9', '__proto__', 'null'])
    expect(Object.entries(values)).toContainEqual(['__proto__', false])
  })

  it('jsonOf returns the flags in the order of the flag set, also if keys look like numbers', () => {
    expect(jsonOf(evaluation)).toBe('{"10":false,"9":true,"__proto__":false,"null":null}')
  })
})
