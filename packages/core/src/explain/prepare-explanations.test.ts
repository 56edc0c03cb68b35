import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { FlagDefinition } from '../model/definition.ts'
import { prepareExplanations } from './prepare-explanations.ts'

const USER = { kind: 'user', key: 'user-1', plan: 'pro' }

/** Returns this number of conditions. */
const conditions = (count: number) => {
  return Array.from({ length: count }, (_, at) => {
    return { attribute: 'plan', operator: 'eq', value: `plan-${at}` }
  })
}
const withConditions = (key: string, ...counts: number[]): FlagDefinition => {
  return flagDefinition(key, {
    rules: counts.map((count) => ruleDefinition({ conditions: conditions(count) })),
  })
}

describe('prepareExplanations', () => {
  const [first = flagDefinition(''), ...others] = [
    withConditions('a', 1, 4, 5),
    { ...withConditions('inactive', 4), isActive: false },
    withConditions('other', 4),
  ]
  const rules = [...first.rules, ruleDefinition({ segmentId: 's' })]
  const segments = ['s', 'unused'].map((id) => segmentDefinition(id, { rules: conditions(9) }))
  const flagSet = compileFlagSet(
    flagSetDefinition([first, ...others, { ...first, key: 'b', id: 'b', rules }], segments),
  )
  const chunks = (...keys: string[]) => [...prepareExplanations(flagSet, keys, USER)].length

  it('prepareExplanations yields after every four conditions of a rule or segment', () => {
    expect(chunks('a')).toBe(1 + 1 + 2)
    expect(chunks('b')).toBe(1 + 1 + 2 + 3)
  })

  it('prepareExplanations prepares only active flags and what they depend on', () => {
    expect(chunks('inactive')).toBe(0)
    expect(chunks('unknown')).toBe(0)
    expect(chunks()).toBe(0)
    expect(chunks('a', 'other')).toBe(4 + 1)
  })
})
