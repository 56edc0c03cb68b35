import fc from 'fast-check'
import { expect, it } from 'vitest'
import { contextAt, mixedFlags } from '../../bench/mixed.ts'
import { resultsOf } from '../../test/single-results.ts'
import { evaluateAll, evaluateSome, jsonOf, prepareIncrementally, valuesOf } from '../all-flags.ts'
import { valuesHash } from '../fingerprint.ts'
import { compileFlagSet, type FlagSet } from '../index.ts'
import { runToEnd } from '../model/incremental.ts'
import { re2 } from '../regex.ts'
import { batchCacheOf } from './batch-cache.ts'
import { evaluateTogether } from './evaluate-all.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')

function mixed(flags: number, seed?: number): FlagSet {
  return compileFlagSet(mixedFlags(flags, seed), { extensions: { regex: re2 } })
}

it('The first 16 evaluations of a flag set compile no rule matrix', () => {
  const flagSet = mixed(20)
  for (let number = 1; number <= 16; number += 1) {
    evaluateAll(flagSet, contextAt(number), NOW)
    expect(batchCacheOf(flagSet).matrix).toBeUndefined()
  }
  evaluateAll(flagSet, contextAt(17), NOW)
  expect(batchCacheOf(flagSet).matrix).toBeDefined()
})

it('Evaluations of many of the flags count as evaluations of all flags', () => {
  const flagSet = mixed(20)
  const keys = flagSet.ordered.map(({ key }) => key)
  for (let number = 1; number <= 17; number += 1) {
    expect(batchCacheOf(flagSet).matrix).toBeUndefined()
    evaluateSome(flagSet, keys, contextAt(number), NOW)
  }
  expect(batchCacheOf(flagSet).matrix).toBeDefined()
})

it('The first evaluation of a prepared flag set uses the rule matrix', () => {
  const flagSet = mixed(20)
  runToEnd(prepareIncrementally(flagSet))
  expect(evaluateAll(flagSet, contextAt(0), NOW).flags).toBe(flagSet.ordered)
  expect(batchCacheOf(flagSet).evaluationsAlone).toBe(0)
})

it('Evaluations before and after the rule matrix is compiled have equal results', () => {
  fc.assert(
    fc.property(fc.nat({ max: 1_000_000 }), fc.nat({ max: 999 }), (seed, turn) => {
      const flagSet = mixed(30, seed)
      const evaluation = evaluateAll(flagSet, contextAt(turn), NOW)
      const together = evaluateTogether(flagSet, contextAt(turn), NOW)
      expect(resultsOf(evaluation)).toEqual(resultsOf(together))
      expect({ ...valuesOf(evaluation) }).toEqual({ ...valuesOf(together) })
      expect(jsonOf(evaluation)).toBe(jsonOf(together))
      expect(valuesHash(evaluation)).toBe(valuesHash(together))
    }),
    { numRuns: 30 },
  )
})
