import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { FlagDefinition, SegmentDefinition } from '../model/definition.ts'
import { changedFlags } from './changed-flags.ts'

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

  it('The keys of changedFlags are sorted by code point', () => {
    const more = ['😀', '～', 'aa'].map((key) => flagDefinition(key))
    const keys = ['aa', 'alone', '～', '😀']
    expect(changed([...replace('alone', { isActive: false }), ...more])).toEqual(keys)
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
