import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition, ruleDefinition } from '../test/definitions.ts'
import {
  detailsOf,
  evaluateAll,
  evaluateFlag,
  evaluateSome,
  jsonOf,
  reasonAt,
  valuesOf,
  variationAt,
} from './evaluate.ts'
import { compileFlagSet } from './flag-set.ts'

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
  it('answers an unknown key with FLAG_NOT_FOUND', () => {
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

  it('leaves out of a detail what does not apply', () => {
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
  it('answers each known key once, in the order of the set', () => {
    const evaluation = evaluateSome(flagSet, ['9', 'unknown', '10', '9'], user, 0)
    expect(detailsOf(evaluation).map(({ flagKey }) => flagKey)).toEqual(['10', '9'])
    expect(jsonOf(evaluateSome(flagSet, [], user, 0))).toBe('{}')
  })
})

describe('a flag with more rules than a word has bits', () => {
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
  ])('serves plan %s what the first rule that holds and serves says', (plan, served) => {
    const context = { kind: 'user', key: 'user-1', plan }
    const values = valuesOf(evaluateAll(long, context, 0))
    expect({ ...values }).toEqual({ a: served, b: served, c: served })
  })
})

describe('an evaluation', () => {
  const evaluation = evaluateAll(flagSet, user, 0)

  it('knows for each flag which variation it serves', () => {
    expect(evaluation.flags.map(({ key }) => key)).toEqual(['10', '9', '__proto__', 'null'])
    const variations = evaluation.flags.map((_, index) => variationAt(evaluation, index)?.index)
    expect(variations).toEqual([1, 0, 1, undefined])
    const reasons = evaluation.flags.map((_, index) => reasonAt(evaluation, index))
    expect(reasons).toEqual(['STATIC', 'TARGETING_MATCH', 'STATIC', 'ERROR'])
  })

  it('has values in an object that inherits nothing, where any key is safe', () => {
    const values = valuesOf(evaluation)
    for (const name of ['toString', 'constructor', 'hasOwnProperty']) {
      expect(name in values).toBe(false)
    }
    expect(Object.keys(values).sort()).toEqual(['10', '9', '__proto__', 'null'])
    expect(Object.entries(values)).toContainEqual(['__proto__', false])
  })

  it('has JSON text in the order of the flag set, also where keys look like numbers', () => {
    expect(jsonOf(evaluation)).toBe('{"10":false,"9":true,"__proto__":false,"null":null}')
  })
})
