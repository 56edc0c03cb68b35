import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition, segmentDefinition } from '../../test/definitions.ts'
import type { FlagSetDefinition } from '../model/definition.ts'
import { type ChangedSegment, type DefinitionDelta, mergeChanges } from './definition-delta.ts'

const NONE = { added: [], removed: [] }

const flags = ['b', 'd'].map((key) => flagDefinition(key))
const [kept, listing, removed] = [
  segmentDefinition('kept', { included: ['k'] }),
  segmentDefinition('listing', { included: ['a', 'b', 'c'], excluded: ['x', 'y'] }),
  segmentDefinition('removed', { included: ['r'] }),
]
const before = flagSetDefinition(flags, [kept, listing, removed])

function changedSegment(id: string, changes: Partial<ChangedSegment> = {}): ChangedSegment {
  const { included, excluded, ...definition } = segmentDefinition(id)
  return { id, definition, included: NONE, excluded: NONE, ...changes }
}

function merge(changes: Partial<DefinitionDelta>): FlagSetDefinition {
  return mergeChanges(before, { version: 7, flags: [], segments: [], ...changes })
}

function mergedSegment(change: ChangedSegment) {
  return merge({ segments: [change] }).segments.find(({ id }) => id === change.id)
}

describe('mergeChanges', () => {
  it('mergeChanges replaces, adds and removes flags by id, and sorts them by key', () => {
    const merged = merge({
      flags: [
        { id: 'id of d', definition: null },
        { id: 'id of c', definition: flagDefinition('c') },
        { id: 'id of a', definition: flagDefinition('a') },
        { id: 'id of nothing', definition: null },
      ],
    })
    expect(merged.version).toBe(7)
    expect(merged.flags.map(({ key }) => key)).toEqual(['a', 'b', 'c'])
    expect(merged.flags[1]).toBe(flags[0])
  })

  it('mergeChanges replaces, adds and removes segments by id, and sorts them by id', () => {
    const forced = { ...changedSegment('listing').definition, force: true } as never
    const segments = [
      changedSegment('removed', { definition: null }),
      changedSegment('listing', { definition: forced }),
      changedSegment('added'),
      changedSegment('nothing', { definition: null }),
    ]
    expect(merge({ segments }).segments.map(({ id, force }) => [id, force])).toEqual([
      ['added', false],
      ['kept', false],
      ['listing', true],
    ])
  })

  it('Flags with the same key are sorted by id', () => {
    const twins = ['2', '1'].map((id) => flagDefinition('c', { id }))
    const changes = twins.map((definition) => ({ id: definition.id, definition }))
    expect(merge({ flags: changes }).flags.slice(1, 3)).toEqual(twins.reverse())
  })

  it('A new flag can have the key of a deleted flag', () => {
    const fresh = flagDefinition('b', { id: 'new id' })
    const changes = [
      { id: 'new id', definition: fresh },
      { id: 'id of b', definition: null },
    ]
    expect(merge({ flags: changes }).flags).toEqual([fresh, flags[1]])
  })

  it('The merged definition contains a client version only if the changes contain one', () => {
    expect(merge({ clientVersion: 5 }).clientVersion).toBe(5)
    const old = { ...before, clientVersion: 3 }
    expect(mergeChanges(old, { version: 7, flags: [], segments: [] })).toStrictEqual({
      ...before,
      version: 7,
    })
  })

  it('mergeChanges adds listed keys to a segment and removes them from it', () => {
    const merged = mergedSegment(
      changedSegment('listing', {
        included: { added: ['d', 'x'], removed: ['b', 'never there'] },
        excluded: { added: [], removed: ['x'] },
      }),
    )
    expect(merged?.included).toEqual(['a', 'c', 'd', 'x'])
    expect(merged?.excluded).toEqual(['y'])
  })

  it('A merged list contains a key once if the key was already listed or is both added and removed', () => {
    const included = { added: ['a', 'c'], removed: ['c'] }
    expect(mergedSegment(changedSegment('listing', { included }))?.included).toEqual([
      'b',
      'a',
      'c',
    ])
  })

  it('The lists of a segment that the definition does not contain begin empty', () => {
    const merged = mergedSegment(
      changedSegment('added', { included: { added: ['a'], removed: ['b'] } }),
    )
    expect(merged).toEqual(segmentDefinition('added', { included: ['a'] }))
  })

  it('A definition without changes, and a list without changes, is the same object as before', () => {
    const excluded = { added: ['z'], removed: [] }
    const merged = merge({
      flags: [{ id: 'id of d', definition: null }],
      segments: [changedSegment('listing', { excluded })],
    })
    expect(merged.flags[0]).toBe(flags[0])
    expect(merged.segments[0]).toBe(kept)
    expect(merged.segments[1]?.included).toBe(listing.included)
    expect(merged.segments[1]?.excluded).toEqual(['x', 'y', 'z'])
  })
})
