import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  gradualFlag,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { valuesOf } from '../all-flags.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import type { FlagDefinition, FlagSetDefinition } from '../model/definition.ts'
import { clientView } from './client-view.ts'
import { compileFlagSet } from './flag-set.ts'

const USER = { kind: 'user', key: 'user-1' }

const hidden = (key: string, changes: Partial<FlagDefinition> = {}) => {
  return flagDefinition(key, { clientVisible: false, ...changes })
}
const onFlag = (attribute: string) => ({ attribute, operator: 'flag_is', value: 'off' })

/** `visible` depends on `condition`, `prerequisite` and, through a segment, on `indirect`. */
const definition: FlagSetDefinition = flagSetDefinition(
  [
    flagDefinition('visible', {
      prerequisites: [{ flagId: 'id of prerequisite', variationIds: ['off'] }],
      rules: [ruleDefinition({ conditions: [onFlag('condition')], segmentId: 's' })],
    }),
    flagDefinition('alone', { clientVisible: true }),
    hidden('prerequisite'),
    hidden('condition'),
    hidden('indirect'),
    hidden('unused'),
  ],
  [segmentDefinition('s', { rules: [onFlag('indirect')] })],
)

describe('clientView', () => {
  it('A client view serves only visible flags, which can depend on hidden flags', () => {
    const view = clientView(compileFlagSet(definition))
    expect([...view.flags.keys()]).toEqual(['alone', 'visible'])
    expect(view.ordered).toEqual([...view.flags.values()])
    expect({ ...valuesOf(evaluateTogether(view, USER, 0)) }).toEqual({
      alone: false,
      visible: true,
    })
  })

  it('A client view contains the dependencies of visible flags, but no other hidden flags', () => {
    const view = clientView(compileFlagSet(definition))
    const keys = ['alone', 'condition', 'indirect', 'prerequisite', 'visible']
    expect([...view.flagsByKey.keys()]).toEqual(keys)
    expect([...view.flagsById.keys()]).toEqual(keys.map((key) => `id of ${key}`))
    for (const flag of view.flagsByKey.values()) {
      expect(view.flagsById.get(flag.definition.id)).toBe(flag)
    }
    expect(Object.isFrozen(view)).toBe(true)
  })

  it('A client view has the timestamps of its gradual rollouts, but not of other hidden flags', () => {
    const start = '2026-01-01T00:00:00Z'
    const flags = [flagDefinition('a'), { ...gradualFlag('b', start), clientVisible: false }]
    expect(clientView(compileFlagSet(flagSetDefinition(flags))).timestamps).toEqual([])
    const dependent = flagDefinition('a', {
      rules: [ruleDefinition({ conditions: [onFlag('b')] })],
    })
    const view = clientView(compileFlagSet(flagSetDefinition([dependent, ...flags.slice(1)])))
    expect(view.timestamps).toHaveLength(3)
  })

  it('clientView returns the flag set itself if every flag is visible and the versions are equal', () => {
    const flags = [flagDefinition('a'), flagDefinition('b', { clientVisible: true })]
    const flagSet = compileFlagSet(flagSetDefinition(flags))
    expect(clientView(flagSet)).toBe(flagSet)
    const other = clientView(compileFlagSet({ ...flagSetDefinition(flags), clientVersion: 0 }))
    expect(other.version).toBe(0)
    expect(other.ordered).toHaveLength(2)
  })

  it('clientView returns the earlier view only if the new view has the same version', () => {
    const before = clientView(compileFlagSet({ ...definition, version: 4, clientVersion: 3 }))
    expect(before.version).toBe(3)
    const next = compileFlagSet({ ...definition, version: 5, clientVersion: 3 })
    expect(clientView(next, before)).toBe(before)
    expect(clientView(next)).not.toBe(before)
    const later = clientView(compileFlagSet({ ...definition, version: 5 }), before)
    expect(later.version).toBe(5)
    expect({ ...valuesOf(evaluateTogether(later, USER, 0)) }).toEqual({
      alone: false,
      visible: true,
    })
  })
})
