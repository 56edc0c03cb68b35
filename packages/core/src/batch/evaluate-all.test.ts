import { expect, it } from 'vitest'
import { contextAt, mixedFlags } from '../../bench/mixed.ts'
import { evaluateAll, evaluateSome, prepareIncrementally } from '../all-flags.ts'
import { compileFlagSet, type FlagSet } from '../index.ts'
import { runToEnd } from '../model/incremental.ts'
import { re2 } from '../regex.ts'
import { batchCacheOf } from './batch-cache.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')

function mixed(flags: number): FlagSet {
  return compileFlagSet(mixedFlags(flags), { extensions: { regex: re2 } })
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
