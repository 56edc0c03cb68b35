import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { FlagDefinition, SegmentDefinition } from '../model/definition.ts'
import { changedFlags, changedValues, mergeChanges } from './diff.ts'

const inSegment = (id: string) => ({ attribute: '', operator: 'in_segment', value: id })

const flags = [
  flagDefinition('base'),
  flagDefinition('needs-base', { prerequisites: [{ flagId: 'id of base', variationIds: ['on'] }] }),
  flagDefinition('asks-needs-base', {
    rules: [
      ruleDefinition({
        conditions: [{ attribute: 'needs-base', operator: 'flag_is', value: 'on' }],
      }),
    ],
  }),
  flagDefinition('in-outer', { rules: [ruleDefinition({ segmentId: 'outer' })] }),
  flagDefinition('in-inner', { rules: [ruleDefinition({ conditions: [inSegment('inner')] })] }),
  flagDefinition('asks-later', {
    rules: [
      ruleDefinition({
        conditions: [{ attribute: 'later', operator: 'flag_is_not', value: 'on' }],
      }),
    ],
  }),
  flagDefinition('alone'),
]
const segments = [
  segmentDefinition('inner'),
  segmentDefinition('outer', { rules: [inSegment('inner')] }),
]

function changed(
  newFlags: readonly FlagDefinition[],
  newSegments: readonly SegmentDefinition[] = segments,
): readonly string[] {
  const before = compileFlagSet(flagSetDefinition(flags, segments))
  const after = compileFlagSet(
    { version: 2, flags: newFlags, segments: newSegments },
    { previous: before },
  )
  return changedFlags(before, after)
}

const replace = (key: string, changes: Partial<FlagDefinition>) =>
  flags.map((flag) => (flag.key === key ? flagDefinition(key, { ...flag, ...changes }) : flag))

describe('changedFlags', () => {
  it('changedFlags returns no flags if only the version changed', () => {
    expect(changed(structuredClone(flags))).toEqual([])
  })

  it('changedFlags returns a changed flag and all its dependents', () => {
    expect(changed(replace('alone', { isActive: false }))).toEqual(['alone'])
    expect(changed(replace('base', { defaultVariationId: 'on' }))).toEqual([
      'asks-needs-base',
      'base',
      'needs-base',
    ])
  })

  it('changedFlags returns added and removed flags and all their dependents', () => {
    expect(changed([...flags, flagDefinition('later')])).toEqual(['asks-later', 'later'])
    expect(changed(flags.filter(({ key }) => key !== 'base'))).toEqual([
      'asks-needs-base',
      'base',
      'needs-base',
    ])
  })

  it('changedFlags returns the direct and indirect dependents of a changed or removed segment', () => {
    const forced = [segmentDefinition('inner', { force: true }), ...segments.slice(1)]
    expect(changed(flags, forced)).toEqual(['in-inner', 'in-outer'])
    expect(changed(flags, segments.slice(1))).toEqual(['in-inner', 'in-outer'])
    expect(changed(flags, segments.slice(0, 1))).toEqual(['in-outer'])
  })

  it('changedFlags omits an inactive flag, because an inactive flag has no dependencies', () => {
    const inactive = flags.map((flag) => ({ ...flag, isActive: flag.key !== 'needs-base' }))
    const before = compileFlagSet(flagSetDefinition(inactive, segments))
    const after = compileFlagSet(flagSetDefinition(inactive.slice(1), segments))
    expect(changedFlags(before, after)).toEqual(['base'])
  })
})

describe('changedValues', () => {
  it('changedValues returns new, changed and removed values, and compares deeply', () => {
    const before = { same: { a: [1, { b: null }] }, changed: { a: 1 }, gone: false, null: null }
    const after = { same: { a: [1, { b: null }] }, changed: { a: '1' }, added: null, null: null }
    expect(changedValues(before, after)).toEqual({
      flags: { changed: { a: '1' }, added: null },
      removed: ['gone'],
    })
  })

  it('changedValues treats __proto__ and constructor like any other key', () => {
    const odd = JSON.parse('{"__proto__": true, "constructor": 1}')
    const { flags: added, removed } = changedValues({}, odd)
    expect(Object.entries(added)).toEqual([
      ['__proto__', true],
      ['constructor', 1],
    ])
    expect(removed).toEqual([])
    expect(changedValues(odd, {}).removed).toEqual(['__proto__', 'constructor'])
    expect(changedValues(odd, odd)).toEqual({ flags: {}, removed: [] })
  })
})

describe('mergeChanges', () => {
  it('mergeChanges replaces, adds and removes definitions by id, and sorts flags by key and segments by id', () => {
    const definition = flagSetDefinition([flagDefinition('b'), flagDefinition('d')], segments)
    const merged = mergeChanges(definition, {
      version: 7,
      flags: [
        { id: 'id of d', definition: null },
        { id: 'id of c', definition: flagDefinition('c') },
        { id: 'id of a', definition: flagDefinition('a') },
        { id: 'id of nothing', definition: null },
      ],
      segments: [{ id: 'inner', definition: segmentDefinition('inner', { force: true }) }],
    })
    expect(merged.version).toBe(7)
    expect(merged.flags.map(({ key }) => key)).toEqual(['a', 'b', 'c'])
    expect(merged.flags[1]).toBe(definition.flags[0])
    expect(merged.segments.map(({ id, force }) => [id, force])).toEqual([
      ['inner', true],
      ['outer', false],
    ])
  })

  it('A new flag can have the key of a deleted flag', () => {
    const fresh = flagDefinition('a', { id: 'new id' })
    const merged = mergeChanges(flagSetDefinition([flagDefinition('a')]), {
      version: 2,
      flags: [
        { id: 'new id', definition: fresh },
        { id: 'id of a', definition: null },
      ],
      segments: [],
    })
    expect(merged.flags).toEqual([fresh])
  })
})
