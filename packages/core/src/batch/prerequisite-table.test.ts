import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition, ruleDefinition } from '../../test/definitions.ts'
import { resultsAlone, resultsTogether } from '../../test/single-results.ts'
import { clientView } from '../evaluation/client-view.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import type { FlagDefinition } from '../model/definition.ts'
import { ruleMatrixOf } from './batch-cache.ts'
import { applyPrerequisites } from './prerequisite-table.ts'

const isPro = { attribute: 'plan', operator: 'eq', value: 'pro' }
const CONTEXTS = [{}, { kind: 'user', key: 'user-1' }, { kind: 'user', key: 'user-1', plan: 'pro' }]

/** Returns a flag that serves `on` for the plan `pro` if the others serve certain variations. */
function requiring(key: string, ...others: (readonly [key: string, ...ids: string[]])[]) {
  const prerequisites = others.map(([other, ...variationIds]) => {
    return { flagId: `id of ${other}`, variationIds }
  })
  return flagDefinition(key, { rules: [ruleDefinition({ conditions: [isPro] })], prerequisites })
}

function expectAsAlone(flagSet: FlagSet): void {
  for (const context of CONTEXTS) {
    expect([context, resultsTogether(flagSet, context)]).toEqual([
      ...[context, resultsAlone(flagSet, context)],
    ])
  }
}

function compiled(...flags: readonly FlagDefinition[]): FlagSet {
  return compileFlagSet(flagSetDefinition(flags))
}

function tableOf(flagSet: FlagSet) {
  const { flags, met } = ruleMatrixOf(flagSet).prerequisites
  return { flags: [...flags], met: [...met] }
}

describe('compilePrerequisites', () => {
  it('A flag comes after the flags that it depends on', () => {
    const flagSet = compiled(
      requiring('a', ['b', 'on'], ['c', 'off']),
      requiring('b', ['c', 'on', 'off']),
      requiring('c'),
    )
    const [a, b] = flagSet.ordered
    // Each prerequisite has an entry for no variation, and one for each of two variations.
    expect(tableOf(flagSet)).toEqual({
      flags: [...[1, b?.unmet.code, 1], ...[2, 0], ...[0, a?.unmet.code, 2], ...[1, 3], ...[2, 6]],
      met: [...[0, 1, 1], ...[0, 1, 0], ...[0, 0, 1]],
    })
    expectAsAlone(flagSet)
  })

  it('Inactive flags, malformed flags and flags without prerequisites are not in the table', () => {
    const flagSet = compiled(
      flagDefinition('a'),
      { ...requiring('b', ['a', 'on']), isActive: false },
      requiring('c', ['absent', 'on']),
      requiring('d', ['d', 'on']),
      requiring('e', ['b', 'off']),
    )
    expect([...flagSet.malformed]).toEqual(['c', 'd'])
    expect(tableOf(flagSet).flags.slice(0, 3)).toEqual([4, flagSet.ordered[4]?.unmet.code, 1])
    expect(tableOf(flagSet).flags).toHaveLength(5)
    expectAsAlone(flagSet)
  })

  it('A prerequisite that many flags have is evaluated before all of them', () => {
    const others = Array.from({ length: 40 }, (_, at) => requiring(`a-${at + 10}`, ['z', 'on']))
    expectAsAlone(compiled(...others, requiring('z', ['y', 'off']), requiring('y')))
    expectAsAlone(compiled(...others, requiring('z', ['y', 'on']), requiring('y')))
  })

  it('A chain of 64 prerequisites has the same results together as alone, and the end of a longer one is malformed', () => {
    const chain = (length: number) => {
      return Array.from({ length }, (_, at) => {
        return at === 0 ? requiring('f-10') : requiring(`f-${at + 10}`, [`f-${at + 9}`, 'on'])
      })
    }
    for (const flags of [chain(65), chain(65).toReversed()]) {
      const flagSet = compiled(...flags)
      expect(flagSet.malformed.size).toBe(0)
      expect(tableOf(flagSet).flags).toHaveLength(5 * 64)
      expectAsAlone(flagSet)
      const [, , pro = {}] = CONTEXTS
      expect(resultsTogether(flagSet, pro).every((text) => text.endsWith('MATCH'))).toBe(true)
    }
    const flagSet = compiled(...chain(66))
    expect([...flagSet.malformed]).toEqual(['f-75'])
    expectAsAlone(flagSet)
  })

  it('Flags that a client view hides are prerequisites of visible flags', () => {
    const flags = [
      requiring('visible', ['hidden', 'on']),
      { ...requiring('hidden', ['deeper', 'on']), clientVisible: false },
      { ...requiring('deeper'), clientVisible: false },
      { ...requiring('unused'), clientVisible: false },
    ]
    const view = clientView(compiled(...flags))
    expect(ruleMatrixOf(view).initial).toHaveLength(3)
    expectAsAlone(view)
    expect(CONTEXTS.map((context) => resultsTogether(view, context))).toEqual([
      ...[['visible: off, DEFAULT'], ['visible: off, DEFAULT'], ['visible: on, TARGETING_MATCH']],
    ])
  })

  it('A prerequisite that serves no variation is not met', () => {
    const broken = { ...flagDefinition('broken'), defaultVariationId: 'absent' }
    const flagSet = compiled(requiring('a', ['broken', 'on', 'off', 'absent']), broken)
    expectAsAlone(flagSet)
    expect(resultsTogether(flagSet, { kind: 'user', plan: 'pro' })[0]).toBe('a: off, DEFAULT')
  })
})

describe('applyPrerequisites', () => {
  it('applyPrerequisites changes only codes of flags with a prerequisite that is not met', () => {
    const [none, first, second] = [0b000_001, 0b001_001, 0b010_001]
    const unmet = 0b010_010
    const table = {
      flags: Int32Array.of(...[2, unmet, 2, 0, 0, 1, 3], ...[3, 77, 1, 2, 0]),
      met: Uint8Array.of(...[0, 1, 0], ...[0, 0, 1]),
    }
    const applied = (codes: readonly number[], from = 0) => {
      const all = Int32Array.from(codes)
      applyPrerequisites(table, all, from)
      return [...all]
    }
    expect(applied([first, second, first, 9])).toEqual([first, second, first, 9])
    expect(applied([first, first, first, 9])).toEqual([first, first, unmet, 77])
    expect(applied([second, second, first, 9])).toEqual([second, second, unmet, 77])
    expect(applied([first, second, second, 9])).toEqual([first, second, second, 77])
    expect(applied([none, second, first, 9])).toEqual([none, second, unmet, 77])
    expect(applied([5, 6, first, none, first, 9, 7], 2)).toEqual([5, 6, first, none, unmet, 77, 7])
  })
})
