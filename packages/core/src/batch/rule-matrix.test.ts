import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyContext } from '../../test/context-arbitraries.ts'
import { anyChange, anyDefinition, anyNow, anyPoison } from '../../test/definition-arbitraries.ts'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { referenceAnswers } from '../../test/reference.ts'
import {
  detailsOf,
  jsonOf,
  prepareIncrementally,
  reasonAt,
  valuesOf,
  variationAt,
} from '../all-flags.ts'
import { evaluateValue } from '../evaluation/evaluate.ts'
import { compileFlagSet, prepareDefinitions } from '../evaluation/flag-set.ts'
import type { FlagDefinition } from '../model/definition.ts'
import { runToEnd } from '../model/incremental.ts'
import { ruleMatrixOf } from './batch-cache.ts'
import { evaluateTogether } from './evaluate-all.ts'

/** A fixed seed, so that a failure is reproducible. */
const SAMPLE = { seed: 7, numRuns: 80 }

describe('evaluateTogether for a fixed sample of definitions', () => {
  it('evaluateTogether returns the same results as the reference implementation for a fixed sample', () => {
    for (const [definition, requests] of fc.sample(
      fc.tuple(anyDefinition, fc.array(fc.tuple(anyContext, anyNow), { minLength: 3 })),
      SAMPLE,
    )) {
      const flagSet = compileFlagSet(definition)
      for (const [context, now] of requests) {
        const expected = referenceAnswers(definition, context, now)
        const evaluation = evaluateTogether(flagSet, context, now)
        const given = evaluation.flags.map(({ key }, index) => {
          const variation = variationAt(evaluation, index)
          const variationId = variation?.id ?? null
          return [
            key,
            { value: variation?.value ?? null, variationId, reason: reasonAt(evaluation, index) },
          ]
        })
        expect(new Map(given as [string, unknown][])).toEqual(expected)
      }
    }
  })

  it('A detail names the rule, the segment and the rollout of its result', () => {
    for (const [definition, context, now] of fc.sample(
      fc.tuple(anyDefinition, anyContext, anyNow),
      SAMPLE,
    )) {
      const evaluation = evaluateTogether(compileFlagSet(definition), context, now)
      for (const { flagKey, ruleId, segmentId = null, rolloutId = null } of detailsOf(evaluation)) {
        const rules = definition.flags.find(({ key }) => key === flagKey)?.rules ?? []
        const named = rules.filter(({ id }) => id === ruleId)
        expect(named.length > 0).toBe(ruleId !== undefined)
        if (ruleId === undefined) expect([segmentId, rolloutId]).toEqual([null, null])
        else {
          expect(named.map((rule) => [rule.segmentId, rule.rolloutId])).toContainEqual([
            segmentId,
            rolloutId,
          ])
        }
      }
    }
  })

  it('evaluateTogether accepts definitions that do not have the declared shape', () => {
    for (const [definition, context, now] of fc.sample(
      fc.tuple(anyPoison, anyContext, anyNow),
      SAMPLE,
    )) {
      const evaluation = evaluateTogether(compileFlagSet(definition), context, now)
      expect(JSON.parse(jsonOf(evaluation))).toEqual({ ...valuesOf(evaluation) })
    }
  })
})

describe('evaluateTogether for very many rules', () => {
  /** Returns conditions on plans and countries. Some values are in few rules, some in many. */
  const conditionsOf = (flag: number, rule: number) => [
    rule % 5 === 0
      ? { attribute: 'plan', operator: 'neq', value: `${flag}` }
      : { attribute: 'plan', operator: 'in', value: `["${flag}","${rule}","all"]` },
    { attribute: 'country', operator: 'eq', value: `${(flag + rule) % 3}`, negate: flag % 2 === 0 },
  ]
  const flags = Array.from({ length: 300 }, (_, flag) => {
    // For some flags, none of the rules in the first word of rule rows matches.
    const never = { attribute: 'plan', operator: 'in', value: '["never"]' }
    const rules = Array.from({ length: flag % 50 === 0 ? 70 : flag % 7 }, (_, rule) => {
      const conditions = flag % 100 === 0 && rule < 40 ? [never] : conditionsOf(flag, rule)
      return ruleDefinition({ id: `${rule}`, orderIndex: rule, conditions })
    })
    return flagDefinition(`flag-${flag}`, { rules })
  })
  const flagSet = compileFlagSet(flagSetDefinition(flags))
  const plans = [undefined, 'all', '1', '6', '50', '100', '169', '299', 'other', 100, ['6', '100']]

  it.each(plans)(
    'evaluateTogether for the plan %j serves the same values as the evaluation of single flags',
    (plan) => {
      for (const country of [undefined, '0', '1', '2', '3', ['0', '2']]) {
        const context = {
          kind: 'user',
          key: 'user-1',
          ...(plan && { plan }),
          ...(country && { country }),
        }
        const alone = flags.map(({ key }) => [key, evaluateValue(flagSet, key, context, 0)])
        expect({ ...valuesOf(evaluateTogether(flagSet, context, 0)) }).toEqual(
          Object.fromEntries(alone),
        )
      }
    },
  )
})

describe('evaluateTogether for successive versions', () => {
  const segment = segmentDefinition('s', {
    rules: [{ attribute: 'plan', operator: 'contains', value: '1' }],
  })
  const contexts = [
    {},
    { kind: 'user', key: 'user-1' },
    ...Array.from({ length: 14 }, (_, plan) => ({ kind: 'user', key: 'user-1', plan: `${plan}` })),
  ]
  const planned = (key: string, plan: number): FlagDefinition => {
    const conditions = [{ attribute: 'plan', operator: 'eq', value: `${plan}` }]
    const other = [{ attribute: 'plan', operator: 'ends_with', value: `${plan % 5}` }]
    return flagDefinition(key, {
      rules: [
        ruleDefinition({ id: 'nothing', variationId: null }),
        ruleDefinition({ id: 'plan', orderIndex: 1, conditions }),
        ruleDefinition({ id: 'all', orderIndex: 2, conditions: other, segmentId: 's' }),
      ],
    })
  }
  const answersOf = (flagSet: ReturnType<typeof compileFlagSet>) =>
    contexts.map((context) => jsonOf(evaluateTogether(flagSet, context, 0)))

  it('Each version has the same results as if it were compiled alone, and older versions stay unchanged', () => {
    const first = Array.from({ length: 60 }, (_, index) => planned(`flag-${index + 10}`, index % 9))
    const changes: readonly ((flags: readonly FlagDefinition[]) => FlagDefinition[])[] = [
      (flags) => [...flags],
      (flags) => [...flags, planned('new', 3)],
      (flags) => flags.filter(({ key }) => key !== 'flag-30'),
      (flags) => flags.map((flag) => (flag.key === 'flag-40' ? planned('flag-40', 12) : flag)),
      (flags) => [planned('first', 11), planned('second', 10), ...flags.slice(1)],
      (flags) => flags.map((flag, index) => (index === 7 ? { ...flag, isActive: false } : flag)),
      (flags) => flags.map((flag, index) => (index === 9 ? flagDefinition(flag.key) : flag)),
      (flags) => flags.map((flag, index) => planned(flag.key, (index + 1) % 13)),
      () => [],
      () => [planned('alone', 1)],
    ]
    let flags: readonly FlagDefinition[] = first
    let previous = compileFlagSet(flagSetDefinition(flags, [segment]))
    for (const [number, change] of changes.entries()) {
      const before = answersOf(previous)
      flags = change(flags)
      const next = compileFlagSet(flagSetDefinition(flags, [segment]), { previous })
      const alone = compileFlagSet(structuredClone(flagSetDefinition(flags, [segment])))
      expect([number, answersOf(next)]).toEqual([number, answersOf(alone)])
      expect([number, answersOf(previous)]).toEqual([number, before])
      previous = next
    }
  })

  it('Versions with two or three shards have the same results as if they were compiled alone', () => {
    let flags = Array.from({ length: 200 }, (_, index) => planned(`flag-${index}`, index % 9))
    let previous = compileFlagSet(flagSetDefinition(flags, [segment]))
    answersOf(previous)
    // The ranges of changed flags: disjoint, overlapping and empty ones, and more than half of all.
    const changes = [
      { from: 10, to: 50 },
      { from: 48, to: 53 },
      { from: 0, to: 0 },
      { from: 53, to: 55 },
      { from: 10, to: 30 },
      { from: 60, to: 90 },
      { from: 0, to: 150 },
      { from: 199, to: 200 },
    ]
    const groups: number[] = []
    for (const [number, { from, to }] of changes.entries()) {
      flags = flags.map((flag, index) =>
        index < from || index >= to ? flag : planned(flag.key, (index + number) % 13),
      )
      const definition = flagSetDefinition(flags, [segment])
      const next = compileFlagSet(definition, { previous })
      const alone = compileFlagSet(structuredClone(definition))
      expect([number, answersOf(next)]).toEqual([number, answersOf(alone)])
      groups.push(ruleMatrixOf(next).shards.length)
      previous = next
    }
    expect(groups).toEqual([2, 3, 3, 3, 2, 1, 1, 2])
  })

  it('A rule matrix can be prepared incrementally, with evaluations during the interruptions', () => {
    const [now, context] = [0, { kind: 'user', key: 'u', plan: 'plan-1' }]
    const flags = Array.from({ length: 600 }, (_, index) => planned(`flag-${index}`, index % 13))
    const definition = flagSetDefinition(flags, [segment])
    const previous = compileFlagSet(definition)
    expect([...prepareIncrementally(previous)].length).toBeGreaterThan(4)
    expect([...prepareIncrementally(previous)]).toEqual([])
    evaluateTogether(previous, context, now)
    const changed = flags.map(({ key }, index) => planned(key, (index + 1) % 13))
    const after = () => compileFlagSet(flagSetDefinition(changed, [segment]), { previous })
    const [whole, interrupted] = [after(), after()]
    expect([...prepareIncrementally(whole)].length).toBeGreaterThan(4)
    runToEnd(prepareDefinitions(interrupted))
    const chunks = prepareIncrementally(interrupted)
    chunks.next()
    const answer = jsonOf(evaluateTogether(interrupted, context, now))
    expect([...chunks].length).toBeGreaterThan(4)
    const alone = compileFlagSet(structuredClone(flagSetDefinition(changed, [segment])))
    expect(answer).toBe(jsonOf(evaluateTogether(alone, context, now)))
    for (const each of [whole, interrupted]) {
      expect(jsonOf(evaluateTogether(each, context, now))).toBe(answer)
    }
  })

  it('A version after any change of a fixed sample has the same results as if it were compiled alone', () => {
    for (const [[before, after], context, now] of fc.sample(
      fc.tuple(anyChange, anyContext, anyNow),
      SAMPLE,
    )) {
      const previous = compileFlagSet(before)
      evaluateTogether(previous, context, now)
      const next = evaluateTogether(compileFlagSet(after, { previous }), context, now)
      const alone = evaluateTogether(compileFlagSet(structuredClone(after)), context, now)
      expect(detailsOf(next)).toEqual(detailsOf(alone))
      expect(jsonOf(next)).toBe(jsonOf(alone))
    }
  })
})
