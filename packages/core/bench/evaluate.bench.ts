import { bench, describe } from 'vitest'
import type { FlagDefinition, FlagSetDefinition, RuleDefinition } from '../src/definition.ts'
import { evaluateAll, evaluateFlag, jsonOf, valuesOf } from '../src/evaluate.ts'
import { compileFlagSet } from '../src/flag-set.ts'

const NOW = Date.UTC(2026, 0, 1)
const COUNTRIES = ['AT', 'BE', 'CH', 'DE', 'DK', 'ES', 'FI', 'FR', 'GB', 'IT']

const contexts = Array.from({ length: 1000 }, (_, index) => ({
  kind: 'user',
  key: `7f9c2ba4-e88f-4f2b-9c1a-${String(index).padStart(12, '0')}`,
  plan: index % 3 === 0 ? 'pro' : 'free',
  country: COUNTRIES[index % COUNTRIES.length] ?? '',
  age: index % 80,
}))

function ruleOf(flag: number, rule: number): RuleDefinition {
  return {
    id: `rule-${flag}-${rule}`,
    orderIndex: rule,
    createdAt: '2026-01-01T00:00:00.000Z',
    conditions: [
      { attribute: 'plan', operator: 'eq', value: `plan-${(flag + rule) % 7}` },
      { attribute: 'country', operator: 'in', value: JSON.stringify(COUNTRIES.slice(rule)) },
      { attribute: 'age', operator: 'gte', value: String((flag * rule) % 60) },
    ],
    segmentId: null,
    variationId: 'on',
    rolloutId: null,
  }
}

/** Five rules that rarely match, then a 50 % rollout. */
function flagOf(flag: number): FlagDefinition {
  const last = { ...ruleOf(flag, 5), conditions: [], variationId: null, rolloutId: 'half' }
  return {
    id: `flag-${flag}`,
    key: `flag-${flag}`,
    type: 'boolean',
    isActive: true,
    variations: [
      { id: 'on', key: 'on', value: 'true' },
      { id: 'off', key: 'off', value: 'false' },
    ],
    defaultVariationId: 'off',
    offVariationId: null,
    targets: [],
    prerequisites: [],
    rules: [...[0, 1, 2, 3, 4].map((rule) => ruleOf(flag, rule)), last],
    rollouts: [
      {
        id: 'half',
        strategy: 'percentage',
        bucketBy: 'user.key',
        salt: `salt${String(flag).padStart(7, '0')}`,
        scheme: 'ff',
        ranges: [{ variationId: 'on', from: 0, to: 50_000 }],
      },
    ],
  }
}

const definition: FlagSetDefinition = {
  version: 1,
  flags: Array.from({ length: 100 }, (_, index) => flagOf(index)),
  segments: [],
}
const flagSet = compileFlagSet(definition)
const template = valuesOf(evaluateAll(flagSet, contexts[0] ?? {}, NOW))

let turn = 0
const nextContext = () => {
  turn = (turn + 1) % contexts.length
  return contexts[turn] ?? {}
}

describe('evaluating', () => {
  bench('floor: JSON text of 100 values that are known already', () => {
    JSON.stringify(template)
  })
  bench('one flag', () => {
    evaluateFlag(flagSet, 'flag-50', nextContext(), NOW)
  })
  bench('100 flags, as values', () => {
    valuesOf(evaluateAll(flagSet, nextContext(), NOW))
  })
  bench('100 flags, as JSON text', () => {
    jsonOf(evaluateAll(flagSet, nextContext(), NOW))
  })
})

describe('compiling', () => {
  const flags = [...definition.flags]
  flags[7] = { ...flagOf(7), isActive: false }
  const changed = { ...definition, version: 2, flags }
  bench('100 flags from nothing', () => {
    compileFlagSet(definition)
  })
  bench('100 flags of which one changed', () => {
    compileFlagSet(changed, flagSet)
  })
})
