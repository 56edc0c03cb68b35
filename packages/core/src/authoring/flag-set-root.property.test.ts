import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyChange, anyDefinition } from '../../test/definition-arbitraries.ts'
import type { FlagSetDefinition, SegmentDefinition } from '../model/definition.ts'
import { isSameDefinition } from '../model/json.ts'
import { flagSetRoot } from './flag-set-root.ts'

const anyKey = fc.oneof(fc.constantFrom('user-1', 'user-2', '__proto__'), fc.string())

/** Definitions whose segments list more keys. */
const anyFlagSet: fc.Arbitrary<FlagSetDefinition> = fc
  .tuple(anyDefinition, fc.infiniteStream(fc.uniqueArray(anyKey)))
  .map(([definition, lists]) => {
    const keys = () => lists.next().value ?? []
    const segments = definition.segments.map((segment) => {
      return { ...segment, included: keys(), excluded: keys() }
    })
    return { ...definition, segments }
  })

/** Returns the definitions, without the version, in an order that depends only on them. */
function sorted({ flags, segments }: FlagSetDefinition) {
  const byId = <Part extends { readonly id: string }>(parts: readonly Part[]) =>
    [...parts].sort((left, right) => (left.id < right.id ? -1 : 1))
  const lists = byId(segments).map((segment) => ({
    ...segment,
    included: [...segment.included].sort(),
    excluded: [...segment.excluded].sort(),
  }))
  return { flags: byId(flags), segments: lists }
}

/** Returns a copy in which lists and properties have another order. */
function shuffled(definition: FlagSetDefinition): FlagSetDefinition {
  const turned = <Part extends object>(part: Part) =>
    Object.fromEntries(Object.entries(part).reverse()) as unknown as Part
  return {
    version: definition.version + 1,
    flags: definition.flags.map(turned).reverse(),
    segments: definition.segments.map(turned).map((segment) => ({
      ...segment,
      included: [...segment.included].reverse(),
      excluded: [...segment.excluded].reverse(),
    })),
  }
}

/** Returns the changes between two definitions, as `DefinitionDelta` contains them. */
function changesBetween(before: FlagSetDefinition, after: FlagSetDefinition) {
  const none: readonly string[] = []
  const keyChanges = (old: readonly string[], now: readonly string[]) => ({
    added: now.filter((key) => !old.includes(key)),
    removed: old.filter((key) => !now.includes(key)),
  })
  const removedIn = <Part extends { readonly id: string }>(
    old: readonly Part[],
    now: readonly Part[],
  ) => old.filter(({ id }) => now.every((part) => part.id !== id)).map(({ id }) => id)
  const changedSegment = ({ included, excluded, ...definition }: SegmentDefinition) => {
    const old = before.segments.find(({ id }) => id === definition.id)
    return {
      id: definition.id,
      definition,
      included: keyChanges(old?.included ?? none, included),
      excluded: keyChanges(old?.excluded ?? none, excluded),
    }
  }
  const noKeys = { added: none, removed: none }
  return {
    flags: [
      ...after.flags.map((definition) => ({ id: definition.id, definition })),
      ...removedIn(before.flags, after.flags).map((id) => ({ id, definition: null })),
    ],
    segments: [
      ...after.segments.map(changedSegment),
      ...removedIn(before.segments, after.segments).map((id) => {
        return { id, definition: null, included: noKeys, excluded: noKeys }
      }),
    ],
  }
}

describe('flagSetRoot', () => {
  it('Two flag sets have equal roots if and only if their definitions are equal', () => {
    const pairs = fc.oneof(
      fc.tuple(anyFlagSet, anyFlagSet),
      anyFlagSet.map((one) => [one, shuffled(one)] as const),
      anyChange,
    )
    fc.assert(
      fc.property(pairs, ([one, other]) => {
        const areEqual = isSameDefinition(sorted(one), sorted(other))
        expect(flagSetRoot(one).root === flagSetRoot(other).root).toBe(areEqual)
      }),
      { numRuns: runs(300) },
    )
  })
})

describe('FlagSetRoot', () => {
  it('The root after any sequence of changes equals the root of the whole definition', () => {
    fc.assert(
      fc.property(anyFlagSet, fc.array(fc.tuple(anyFlagSet, fc.boolean())), (first, others) => {
        let before = first
        let root = flagSetRoot(first)
        for (const [after, isWhole] of others) {
          root = isWhole ? root.after(after) : root.afterChanges(changesBetween(before, after))
          expect(root.root).toBe(flagSetRoot(after).root)
          before = after
        }
      }),
      { numRuns: runs(200) },
    )
  })
})
