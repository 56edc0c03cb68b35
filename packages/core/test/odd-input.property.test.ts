import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../scripts/test-selection.ts'
import { detailsOf, evaluateSome, jsonOf, valuesOf } from '../src/all-flags.ts'
import { findIssues } from '../src/authoring.ts'
import { evaluateTogether } from '../src/batch/evaluate-all.ts'
import { attributesRead, evaluateDetail, explainFlag, minimalContext } from '../src/explain.ts'
import {
  compileFlagSet,
  type EvaluationContext,
  evaluateFlag,
  evaluateValue,
  type FlagSet,
} from '../src/index.ts'
import { anyContext } from './context-arbitraries.ts'
import { anyDefinition, anyNow } from './definition-arbitraries.ts'
import { anyOddName, anyPlants, ODD_NAMES, oddValue, planted } from './odd-values.ts'
import { OPERATORS_WITH_VECTORS, operatorVectors } from './operator-vectors.ts'
import { EXTENSIONS } from './vector-files.ts'

/** Calls all functions that must not throw, and compares their results. */
function callAll(flagSet: FlagSet, context: EvaluationContext, now: number): void {
  attributesRead(flagSet)
  minimalContext(flagSet, context)
  jsonOf(evaluateTogether(flagSet, context, now))
  valuesOf(evaluateSome(flagSet, flagSet.flags.keys(), context, now))
  const details = detailsOf(evaluateTogether(flagSet, context, now))
  for (const [index, key] of [...flagSet.flags.keys(), 'nowhere'].entries()) {
    const detail = evaluateFlag(flagSet, key, context, now)
    const { steps, ...explained } = explainFlag(flagSet, key, context, now)
    expectSame(explained.detail, detail)
    if (key !== 'nowhere') expectSame(details[index], detail)
    const {
      version,
      prerequisiteChain,
      attributesRead: read,
      ...full
    } = evaluateDetail(flagSet, key, context, now) //
    expectSame(full, detail)
    expect([version, prerequisiteChain, read]).toEqual([
      ...[flagSet.version, explained.prerequisiteChain, explained.attributesRead],
    ])
    expect(evaluateValue(flagSet, key, context, now)).toBe(detail.value)
    expect(steps.length).toBeGreaterThan(0)
    for (const { text } of steps) expect(text.length).toBeLessThan(2_000)
  }
}

/** Compares member by member, because an id can be a value without deep equality. */
function expectSame(given: object | undefined, expected: object): void {
  const flat = (detail: object = {}) => Object.entries({ ...detail, range: undefined })
  expect(flat(given).length).toBe(flat(expected).length)
  const members = new Map<string, unknown>(flat(expected))
  for (const [name, value] of flat(given)) expect(Object.is(value, members.get(name))).toBe(true)
}

describe('The engine with odd input', () => {
  it('The engine never throws for a context that was not parsed', () => {
    fc.assert(
      fc.property(
        fc.tuple(anyDefinition, anyNow),
        anyContext,
        anyPlants,
        anyOddName,
        ([definition, now], context, plants, name) => {
          const flagSet = compileFlagSet(definition, { extensions: EXTENSIONS })
          callAll(flagSet, planted(context, plants), now)
          callAll(flagSet, oddValue(name) as EvaluationContext, now)
        },
      ),
      { numRuns: runs(1_000) },
    )
  })

  it.each(ODD_NAMES)(
    'The engine never throws for any operator if the attribute is odd: %s',
    (name) => {
      const flagSet = compileFlagSet(operatorVectors().flagSet, { extensions: EXTENSIONS })
      const attributes = OPERATORS_WITH_VECTORS.map((each) => [each, oddValue(name)] as const)
      const lists = OPERATORS_WITH_VECTORS.map((each) => [each, [oddValue(name)]] as const)
      for (const each of [attributes, lists]) {
        const context = { kind: 'user', ...Object.fromEntries(each) } as EvaluationContext
        callAll(flagSet, context, 0)
      }
    },
  )

  it('The engine never throws for a definition that does not have the declared shape', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, anyPlants, (sound, context, now, plants) => {
        const flagSet = compileFlagSet(planted(sound, plants), { extensions: EXTENSIONS })
        for (const { message } of findIssues(flagSet)) expect(message.length).toBeLessThan(1_500)
        callAll(flagSet, context, now)
        callAll(flagSet, planted(context, plants), now)
      }),
      { numRuns: runs(2_000) },
    )
  })
})
