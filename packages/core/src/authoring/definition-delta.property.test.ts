import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyChange } from '../../test/definition-arbitraries.ts'
import { compareCodePoints } from '../model/code-point.ts'
import type { FlagSetDefinition, SegmentDefinition } from '../model/definition.ts'
import {
  type ChangedSegment,
  type DefinitionDelta,
  type KeyChanges,
  mergeChanges,
} from './definition-delta.ts'

const NONE: KeyChanges = { added: [], removed: [] }

const keys = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', '__proto__', 'ключ', ''))

/** Sets all lists of the segments to random keys. */
function withLists({ segments, ...rest }: FlagSetDefinition, lists: fc.GeneratorValue) {
  const listed = segments.map((segment) => {
    return { ...segment, included: lists(() => keys), excluded: lists(() => keys) }
  })
  return { ...rest, segments: listed }
}

it('mergeChanges turns the old definition and a delta into the new definition, with the same sets of keys', () => {
  fc.assert(
    fc.property(anyChange, fc.gen(), ([first, second], lists) => {
      const [old, fresh] = [withLists(first, lists), withLists(second, lists)]
      const merged = mergeChanges(old, deltaOf(old, fresh))
      expect({ ...merged, segments: merged.segments.map(withSortedKeys) }).toEqual({
        version: fresh.version,
        flags: [...fresh.flags].sort((a, b) => compareCodePoints(a.key, b.key)),
        segments: [...fresh.segments]
          .sort((a, b) => compareCodePoints(a.id, b.id))
          .map(withSortedKeys),
      })
    }),
    { numRuns: runs(300) },
  )
})

it('mergeChanges keeps every definition and every list without changes as the same object', () => {
  fc.assert(
    fc.property(anyChange, fc.gen(), ([first, second], lists) => {
      const [old, fresh] = [withLists(first, lists), withLists(second, lists)]
      const delta = deltaOf(old, fresh)
      const merged = mergeChanges(old, delta)
      const changedIds = new Set([...delta.flags, ...delta.segments].map(({ id }) => id))
      const all = new Set<unknown>([...merged.flags, ...merged.segments])
      for (const definition of [...old.flags, ...old.segments]) {
        if (!changedIds.has(definition.id)) expect(all.has(definition)).toBe(true)
      }
      for (const { id, definition, included, excluded } of delta.segments) {
        const before = old.segments.find((segment) => segment.id === id)
        const after = merged.segments.find((segment) => segment.id === id)
        if (definition === null || before === undefined) continue
        expect(after?.included === before.included).toBe(isEmpty(included))
        expect(after?.excluded === before.excluded).toBe(isEmpty(excluded))
      }
    }),
    { numRuns: runs(200) },
  )
})

function deltaOf(old: FlagSetDefinition, fresh: FlagSetDefinition): DefinitionDelta {
  const segments = changed(old.segments, fresh.segments).map(
    ({ id, before, after }): ChangedSegment => {
      if (after === null) return { id, definition: null, included: NONE, excluded: NONE }
      const { included, excluded, ...definition } = after
      return {
        id,
        definition,
        included: keyChanges(before?.included ?? [], included),
        excluded: keyChanges(before?.excluded ?? [], excluded),
      }
    },
  )
  const flags = changed(old.flags, fresh.flags).map(({ id, after }) => ({ id, definition: after }))
  return { version: fresh.version, flags, segments }
}

function changed<Part extends { readonly id: string }>(
  before: readonly Part[],
  after: readonly Part[],
) {
  return [...new Set([...before, ...after].map(({ id }) => id))]
    .map((id) => ({
      id,
      before: before.find((part) => part.id === id),
      after: after.find((part) => part.id === id) ?? null,
    }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after))
}

function keyChanges(before: readonly string[], after: readonly string[]): KeyChanges {
  return {
    added: after.filter((key) => !before.includes(key)),
    removed: before.filter((key) => !after.includes(key)),
  }
}

const isEmpty = ({ added, removed }: KeyChanges) => added.length + removed.length === 0

function withSortedKeys(segment: SegmentDefinition): SegmentDefinition {
  const { included, excluded } = segment
  return { ...segment, included: [...included].sort(), excluded: [...excluded].sort() }
}
