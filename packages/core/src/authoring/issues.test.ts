import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { FlagDefinition, FlagSetDefinition, RolloutDefinition } from '../model/definition.ts'
import { findErrors, findIssues } from './issues.ts'

function messagesOf(flags: readonly unknown[]): readonly string[] {
  const flagSet = compileFlagSet(flagSetDefinition(flags as FlagDefinition[]))
  return findIssues(flagSet).map(({ message }) => message)
}

describe('findIssues', () => {
  const basis = { id: 'r', bucketBy: 'user.key', salt: 'salt', scheme: 'ff' }
  const ranges = [{ variationId: 'on', from: 0, to: 2 }]
  const shares = { ...basis, strategy: 'percentage', ranges } as const
  const gradual = {
    ...basis,
    strategy: 'gradual',
    variationId: 'on',
    startAt: '2026-01-01T00:00:00Z',
    increment: 10,
    targetPercentage: 50,
    intervalHours: 1,
  } as const

  it.each<[RolloutDefinition, string]>([
    [
      { ...gradual, startAt: 'soon' },
      'The start of a gradual rollout must be an RFC 3339 timestamp with a time zone.',
    ],
    [
      { ...gradual, intervalHours: 0 },
      'The interval of a gradual rollout must be a positive number of hours.',
    ],
    [
      { ...gradual, increment: 0 },
      'The increment of a gradual rollout must be at least 0.001 percent.',
    ],
    [
      { ...gradual, targetPercentage: 101 },
      'The target of a gradual rollout must be from 0 to 100 percent.',
    ],
    [{ ...shares, scheme: 'x' }, 'The bucketing scheme "x" is not available.'],
    [{ ...shares, totalWeight: 0 }, 'The total weight must be an integer from 1 to 100000.'],
    [
      { ...shares, ranges: [{ variationId: 'on', from: 2, to: 1 }] },
      'A range must have two integers from 0 to 100000, the lower one first.',
    ],
    [{ ...shares, ranges: [...ranges, ...ranges] }, 'Ranges must not overlap.'],
  ])('findIssues describes the fault of the rollout %j', (rollout, why) => {
    const rules = [ruleDefinition({ variationId: null, rolloutId: 'r' })]
    const flag = flagDefinition('a', { rules, rollouts: [{ ...shares, id: 'sound' }, rollout] })
    expect(messagesOf([flag])).toEqual([`The rollout "r" is invalid. ${why}`])
  })

  it('findErrors reports the reference of a segment to a segment that does not exist', () => {
    const inGone = { attribute: '', operator: 'in_segment', value: 'gone' }
    const flagSet = compileFlagSet(
      flagSetDefinition([], [segmentDefinition('s', { rules: [inGone] })]),
    )
    const message = 'The segment s needs the segment gone, which does not exist.'
    expect(findErrors(flagSet)).toEqual([{ severity: 'error', segmentId: 's', message }])
  })

  it('findIssues reports the variations of a rollout that are missing or invalid', () => {
    const rules = [ruleDefinition({ variationId: null, rolloutId: 'r' })]
    const wrong = [{ variationId: 'x', from: 0, to: 2 }]
    const sound = { ...shares, id: 'sound', ranges: [{ variationId: 'y', from: 0, to: 2 }] }
    for (const rollout of [
      { ...gradual, variationId: 'x' },
      { ...shares, ranges: wrong },
    ]) {
      const flag = flagDefinition('a', { rules, rollouts: [rollout, sound] })
      expect(messagesOf([flag])).toEqual([
        'The rollout "r" refers to the variation "x", which is missing or invalid.',
      ])
    }
    const broken = flagDefinition('a', { rules, rollouts: [{ ...gradual, increment: 0 }, sound] })
    expect(messagesOf([broken])).toEqual([expect.stringMatching(/^The rollout "r" is invalid/)])
  })

  it('findIssues reports the segments that are ignored', () => {
    const segments = [{ id: 's' }, segmentDefinition('t'), segmentDefinition('t'), null]
    const definition = { ...flagSetDefinition([]), segments } as unknown as FlagSetDefinition
    expect(findIssues(compileFlagSet(definition))).toEqual([
      {
        severity: 'error',
        message: expect.stringMatching(
          /^"s" is ignored, because its definition is invalid: Type.+\.$/,
        ),
      },
      { severity: 'error', message: 'A second definition of "t" is ignored.' },
      { severity: 'error', message: 'A definition without a key or id is ignored.' },
    ])
  })

  it('findIssues reports the flags that are ignored, in their order', () => {
    const unreadable = { key: 'a', variations: 1 }
    expect(messagesOf([null, unreadable, flagDefinition('a'), flagDefinition('a')])).toEqual([
      'A definition without a key or id is ignored.',
      expect.stringMatching(/^"a" is ignored, because its definition is invalid: TypeError: .+\.$/),
      'A second definition of "a" is ignored.',
    ])
  })

  it('findIssues returns the same issues for a reused flag, and new issues for a changed flag', () => {
    const broken = flagDefinition('a', { defaultVariationId: 'x' })
    const other = flagDefinition('b', { defaultVariationId: 'y' })
    const before = compileFlagSet(flagSetDefinition([broken, other]))
    expect(findIssues(before).map(({ flagKey }) => flagKey)).toEqual(['a', 'b'])
    const definition = flagSetDefinition([structuredClone(broken), flagDefinition('b')])
    const after = compileFlagSet(definition, { previous: before })
    expect(findIssues(after)).toEqual(findIssues(before).slice(0, 1))
  })

  it('findIssues reports flags and segments that are not arrays', () => {
    const definition = { version: 1, flags: 'x', segments: null } as unknown as FlagSetDefinition
    const message = '`flags` and `segments` must be arrays.'
    expect(findIssues(compileFlagSet(definition)).map((issue) => issue.message)).toEqual([
      message,
      message,
    ])
  })

  it('findIssues distinguishes a missing rollout from an invalid one among others', () => {
    const rollout = (id: string, to: number): RolloutDefinition => ({
      ...{ id, bucketBy: 'user.key', salt: 's', scheme: 'ff', strategy: 'percentage' as const },
      ranges: [{ variationId: 'on', from: 0, to }],
    })
    const rollouts = [rollout('valid', 1), rollout('invalid', 0.5), rollout('last', 2)]
    const issuesOf = (rolloutId: string) => {
      const rules = [ruleDefinition({ variationId: null, rolloutId })]
      return messagesOf([flagDefinition('a', { rules, rollouts })])
    }
    expect(issuesOf('valid')).toEqual([])
    expect(issuesOf('missing')).toEqual([
      'The rule "rule" refers to the missing rollout "missing".',
    ])
    expect(issuesOf('invalid')).toEqual([
      'The rollout "invalid" is invalid. ' +
        'A range must have two integers from 0 to 100000, the lower one first.',
    ])
  })

  it('findIssues warns of a boolean flag that serves true while it is inactive', () => {
    const on = flagDefinition('a', { defaultVariationId: 'on' })
    const warnings = (flag: FlagDefinition) =>
      findIssues(compileFlagSet(flagSetDefinition([flag]))).map(({ severity, flagKey }) => {
        return [severity, flagKey]
      })
    expect(warnings(on)).toEqual([['warning', 'a']])
    expect(warnings({ ...on, offVariationId: 'on' })).toEqual([['warning', 'a']])
    expect(warnings({ ...on, offVariationId: 'off' })).toEqual([])
    expect(warnings({ ...on, type: 'json' })).toEqual([])
    expect(findErrors(compileFlagSet(flagSetDefinition([on])))).toEqual([])
  })
})
