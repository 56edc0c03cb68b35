import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../test/context-arbitraries.ts'
import { anyChange, anyNow } from '../../test/definition-arbitraries.ts'
import { detailsOf, jsonOf } from '../all-flags.ts'
import { changedFlags } from '../authoring/changed-flags.ts'
import { changedValues } from '../authoring/changed-values.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import { valuesHash } from '../batch/values-hash.ts'
import { stepAt } from '../changes.ts'
import type { FlagSetDefinition } from '../model/definition.ts'
import type { FlagValues } from '../model/value.ts'
import { clientView } from './client-view.ts'
import { compileFlagSet, type FlagSet } from './flag-set.ts'
import { changedByGradualRollouts } from './schedule.ts'

const anyHidden = fc.uniqueArray(fc.nat({ max: 6 }), { maxLength: 6 }).map((list) => new Set(list))

function hide(definition: FlagSetDefinition, hidden: ReadonlySet<number>): FlagSetDefinition {
  const flags = definition.flags.map((flag, at) =>
    hidden.has(at) ? { ...flag, clientVisible: false } : flag,
  )
  return { ...definition, flags }
}

function hiddenKeys({ flags }: FlagSetDefinition): ReadonlySet<string> {
  return new Set(flags.filter((flag) => flag.clientVisible === false).map(({ key }) => key))
}

describe('clientView', () => {
  it('A client view has the same results as the flag set, for exactly the visible flags', () => {
    fc.assert(
      fc.property(anyChange, anyHidden, anyContext, anyNow, ([, fresh], hidden, context, now) => {
        const definition = hide(fresh, hidden)
        const flagSet = compileFlagSet(definition)
        const view = clientView(flagSet)
        const keys = hiddenKeys(definition)
        const visible = detailsOf(evaluateTogether(flagSet, context, now)).filter(
          ({ flagKey }) => !keys.has(flagKey),
        )
        expect(detailsOf(evaluateTogether(view, context, now))).toEqual(visible)
        const text = jsonOf(evaluateTogether(view, context, now))
        const values = Object.entries(JSON.parse(jsonOf(evaluateTogether(flagSet, context, now))))
        expect(Object.entries(JSON.parse(text))).toEqual(values.filter(([key]) => !keys.has(key)))
        expect([...view.flags.keys()]).toEqual(view.ordered.map(({ key }) => key))
      }),
      { numRuns: runs(400) },
    )
  })

  it('A client view has the same results whether or not an earlier view was reused', () => {
    fc.assert(
      fc.property(
        fc.tuple(anyChange, anyHidden, anyHidden, anyContext, anyNow),
        ([[old, fresh], first, second, context, now]) => {
          const before = compileFlagSet(hide(old, first))
          const viewBefore = clientView(before)
          evaluateTogether(viewBefore, context, now)
          const after = compileFlagSet(hide(fresh, second), { previous: before })
          const reused = clientView(after, viewBefore)
          const rebuilt = clientView(compileFlagSet(hide(fresh, second)))
          expect(answerOf(reused, context, now)).toEqual(answerOf(rebuilt, context, now))
        },
      ),
      { numRuns: runs(300) },
    )
  })

  it('changedFlags and changedByGradualRollouts find all differences between client views', () => {
    fc.assert(
      fc.property(
        fc.tuple(anyChange, anyHidden, anyHidden, anyContext, anyNow, anyNow),
        ([[old, fresh], first, second, context, now, later]) => {
          const before = clientView(compileFlagSet(hide(old, first)))
          const after = clientView(compileFlagSet(hide(fresh, second)))
          const [was, is] = [valuesAt(before, context, now), valuesAt(after, context, later)]
          const { flags, removed } = changedValues(was, is)
          const found = new Set([
            ...changedFlags(before, after),
            ...changedByGradualRollouts(after, Math.min(now, later), Math.max(now, later)),
          ])
          for (const key of [...Object.keys(flags), ...removed]) expect(found).toContain(key)
          for (const key of found) {
            expect(before.flags.has(key) || after.flags.has(key)).toBe(true)
          }
        },
      ),
      { numRuns: runs(300) },
    )
  })

  it('clientView returns the earlier view if the new view has the same version', () => {
    const flags = [flag('visible'), { ...flag('hidden'), clientVisible: false }]
    const before = clientView(compileFlagSet({ version: 1, flags, segments: [] }))
    const next = { version: 2, clientVersion: 1, flags: flags.slice(0, 1), segments: [] }
    expect(clientView(compileFlagSet(next), before)).toBe(before)
    expect(clientView(compileFlagSet(next)).version).toBe(1)
    expect(clientView(compileFlagSet({ ...next, clientVersion: 2 }), before)).not.toBe(before)
  })

  it('clientView returns the flag set itself if every flag is visible and the versions are equal', () => {
    const flagSet = compileFlagSet({ version: 3, flags: [flag('visible')], segments: [] })
    expect(clientView(flagSet)).toBe(flagSet)
  })
})

function answerOf(view: FlagSet, context: Parameters<typeof evaluateTogether>[1], now: number) {
  const evaluation = evaluateTogether(view, context, now)
  return [jsonOf(evaluation), valuesHash(evaluation), view.version, stepAt(view, now)]
}

function valuesAt(view: FlagSet, context: Parameters<typeof evaluateTogether>[1], now: number) {
  return JSON.parse(jsonOf(evaluateTogether(view, context, now))) as FlagValues
}

function flag(key: string) {
  return {
    id: `id of ${key}`,
    key,
    type: 'boolean',
    isActive: true,
    variations: [{ id: 'v', key: 'on', value: 'true' }],
    defaultVariationId: 'v',
    offVariationId: null,
    targets: [],
    prerequisites: [],
    rules: [],
    rollouts: [],
  } as const
}
