import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  compileFlagSet,
  type FlagDefinition,
  type FlagSetDefinition,
  parseContext,
  type SegmentDefinition,
} from '@ff/core'
import { evaluateAll, prepareIncrementally, valuesOf } from '@ff/core/all-flags'
import { expect, it } from 'vitest'
import { mixedFlags } from '../../../core/bench/mixed.ts'
import { estimateBytes } from '../../src/evaluation/flag-set-bytes.ts'
import { extensions } from '../../src/evaluation/shared-compiler.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const CONTEXT = parseContext({ kind: 'user', key: 'user-1', plan: 'pro', age: 30 })
const CREATED_AT = '2026-01-01T00:00:00.000Z'

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index))

const keysOf = (count: number, name: string) => times(count, (index) => `${name}-${index * 7919}`)

function flag(index: number, parts: Partial<FlagDefinition> = {}): FlagDefinition {
  const on = crypto.randomUUID()
  const off = crypto.randomUUID()
  return {
    ...{ id: crypto.randomUUID(), key: `flag-${index}`, type: 'boolean', isActive: true },
    variations: [
      { id: on, key: 'on', value: 'true' },
      { id: off, key: 'off', value: 'false' },
    ],
    ...{ defaultVariationId: on, offVariationId: off, targets: [], prerequisites: [] },
    ...{ rules: [], rollouts: [], ...parts },
  }
}

const ruleOf = (rule: Partial<FlagDefinition['rules'][number]>, orderIndex = 0) => ({
  ...{ id: crypto.randomUUID(), orderIndex, createdAt: CREATED_AT, conditions: [] },
  ...{ segmentId: null, variationId: 'on', rolloutId: null, ...rule },
})

const segment = (id: string, included: readonly string[]): SegmentDefinition => ({
  ...{ id, key: id, rules: [], logicalOp: 'AND', force: false, keyAttribute: 'key' },
  ...{ included, excluded: [] },
})

const SETS: Readonly<Record<string, (seed: number) => Omit<FlagSetDefinition, 'version'>>> = {
  'flags after years of use': (seed) => mixedFlags(100, seed),
  'many flags after years of use': (seed) => mixedFlags(1000, seed),
  'booleans without rules': () => ({ flags: times(200, (index) => flag(index)), segments: [] }),
  'targets with many keys': () => ({
    flags: times(20, (index) => {
      const keys = keysOf(2000, `target-${index}`)
      return flag(index, { targets: [{ kind: 'user', keys, variationId: 'on' }] })
    }),
    segments: [],
  }),
  'segments with many keys': () => ({
    flags: [flag(0, { rules: times(5, (index) => ruleOf({ segmentId: `s-${index}` }, index)) })],
    segments: times(5, (index) => segment(`s-${index}`, keysOf(10_000, `listed-${index}`))),
  }),
  'long JSON values': () => ({
    flags: times(50, (index) => {
      const value = JSON.stringify(
        times(400, (number) => ({ name: `item ${number}`, price: number })),
      )
      const variations = [{ id: 'on', key: 'on', value }]
      return flag(index, { type: 'json', variations, defaultVariationId: 'on' })
    }),
    segments: [],
  }),
  'conditions with long lists': () => ({
    flags: times(50, (index) => {
      const value = JSON.stringify(keysOf(1000, `account-${index}`))
      return flag(index, {
        rules: [ruleOf({ conditions: [{ attribute: 'account', operator: 'in', value }] })],
      })
    }),
    segments: [],
  }),
  'many rules with short conditions': () => ({
    flags: times(20, (index) => {
      const conditionsOf = (rule: number) => [
        { attribute: 'plan', operator: 'eq', value: `plan-${index}-${rule}` },
        { attribute: 'age', operator: 'gt', value: `${index * rule}` },
      ]
      return flag(index, {
        rules: times(50, (rule) => ruleOf({ conditions: conditionsOf(rule) }, rule)),
      })
    }),
    segments: [],
  }),
}

it.each(Object.keys(SETS))('The estimate of %s is within 25 % of the heap', (name) => {
  const make = SETS[name] as (typeof SETS)[string]
  measure(make, 2)
  const { estimated, used } = measure(make, name.startsWith('many flags') ? 4 : 10)
  expect(estimated / used).toBeGreaterThan(0.75)
  expect(estimated / used).toBeLessThan(1.25)
})

/** Compiles flag sets and returns their memory, as estimated and as measured, in bytes. */
function measure(make: (seed: number) => Omit<FlagSetDefinition, 'version'>, count: number) {
  const texts = times(count, (index) => JSON.stringify({ ...make(index + 1), version: 1 }))
  const before = heapUsed()
  const flagSets = texts.map((text) => {
    const flagSet = compileFlagSet(JSON.parse(text) as FlagSetDefinition, { extensions })
    runToEnd(prepareIncrementally(flagSet))
    valuesOf(evaluateAll(flagSet, CONTEXT, Date.now()))
    return flagSet
  })
  const used = heapUsed() - before
  let estimated = 0
  for (const server of flagSets) estimated += runToEnd(estimateBytes({ server, client: server }))
  return { estimated, used }
}

function runToEnd<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

function heapUsed(): number {
  collectGarbage()
  collectGarbage()
  const { heapUsed: objects, arrayBuffers } = process.memoryUsage()
  return objects + arrayBuffers
}
