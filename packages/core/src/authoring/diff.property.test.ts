import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyChange, anyContext, anyNow } from '../../test/arbitraries.ts'
import { detailsOf, evaluateAll, valuesOf } from '../all-flags.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import { compareCodePoints } from '../model/code-point.ts'
import type { FlagSetDefinition } from '../model/definition.ts'
import { jsonEquals } from '../model/json.ts'
import type { FlagValues } from '../model/value.ts'
import { changedFlags, changedValues, type DefinitionDelta, mergeChanges } from './diff.ts'

describe('changedFlags', () => {
  it('changedFlags omits only flags that have the same result for every context', () => {
    fc.assert(
      fc.property(anyChange, anyContext, anyNow, ([old, fresh], context, now) => {
        const before = compileFlagSet(old)
        const after = compileFlagSet(fresh)
        const changed = new Set(changedFlags(before, after))
        const unchanged = (flagSet: typeof before) => {
          const details = detailsOf(evaluateAll(flagSet, context, now))
          return details.filter(({ flagKey }) => !changed.has(flagKey))
        }
        expect(unchanged(after)).toEqual(unchanged(before))
      }),
      { numRuns: 250 },
    )
  })

  it('changedFlags returns the same flags whether or not compiled definitions were reused', () => {
    fc.assert(
      fc.property(anyChange, ([old, fresh]) => {
        const before = compileFlagSet(old)
        expect(changedFlags(before, compileFlagSet(fresh, { previous: before }))).toEqual(
          changedFlags(before, compileFlagSet(fresh)),
        )
      }),
      { numRuns: 300 },
    )
  })
})

describe('changedValues', () => {
  it('changedValues returns changes that turn the old values into the new ones', () => {
    fc.assert(
      fc.property(anyChange, anyContext, anyNow, ([old, fresh], context, now) => {
        const valuesFor = (definition: FlagSetDefinition) =>
          valuesOf(evaluateAll(compileFlagSet(definition), context, now))
        const [before, after] = [valuesFor(old), valuesFor(fresh)]
        const changes = changedValues(before, after)
        expect(patched(before, changes)).toEqual(new Map(Object.entries(after)))
        for (const key of Object.keys(changes.flags)) {
          const [was, is] = [before[key], after[key]]
          expect(was !== undefined && is !== undefined && jsonEquals(was, is)).toBe(false)
        }
      }),
      { numRuns: 250 },
    )
  })
})

function patched(before: FlagValues, { flags, removed }: ReturnType<typeof changedValues>) {
  const values = new Map(Object.entries(before))
  for (const key of removed) values.delete(key)
  for (const [key, value] of Object.entries(flags)) values.set(key, value)
  return values
}

describe('mergeChanges', () => {
  it('mergeChanges turns the old definition and a delta into the new definition', () => {
    fc.assert(
      fc.property(anyChange, ([old, fresh]) => {
        const merged = mergeChanges(old, deltaOf(old, fresh))
        expect(merged).toEqual({
          version: fresh.version,
          flags: [...fresh.flags].sort((a, b) => compareCodePoints(a.key, b.key)),
          segments: [...fresh.segments].sort((a, b) => compareCodePoints(a.id, b.id)),
        })
      }),
      { numRuns: 250 },
    )
  })
})

function deltaOf(old: FlagSetDefinition, fresh: FlagSetDefinition): DefinitionDelta {
  const changes = <Part extends { readonly id: string }>(
    before: readonly Part[],
    after: readonly Part[],
  ) => {
    const known = new Map(before.map((part) => [part.id, JSON.stringify(part)]))
    const changed = after.filter((part) => known.get(part.id) !== JSON.stringify(part))
    const removed = before.filter(({ id }) => !after.some((part) => part.id === id))
    return [
      ...changed.map((definition) => ({ id: definition.id, definition })),
      ...removed.map(({ id }) => ({ id, definition: null })),
    ]
  }
  return {
    version: fresh.version,
    flags: changes(old.flags, fresh.flags),
    segments: changes(old.segments, fresh.segments),
  }
}
