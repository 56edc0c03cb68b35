import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  gradualFlag,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { prepareIncrementally, valuesOf } from '../all-flags.ts'
import { findIssues } from '../authoring/issues.ts'
import { evaluateTogether } from '../batch/evaluate-all.ts'
import type { FlagDefinition, FlagSetDefinition } from '../model/definition.ts'
import { runToEnd } from '../model/incremental.ts'
import { compileFlagSet, compileIncrementally, prepareDefinitions } from './flag-set.ts'

const START = '2026-01-01T00:00:00.000Z'

describe('compileFlagSet', () => {
  it('compileFlagSet sorts flags by the code points of their keys', () => {
    const keys = ['b', '😀', '10', '9', '～', 'B']
    const flagSet = compileFlagSet(flagSetDefinition(keys.map((key) => flagDefinition(key))))
    expect([...flagSet.flags.keys()]).toEqual(['10', '9', 'B', 'b', '～', '😀'])
    expect(flagSet.ordered.map(({ key }) => key)).toEqual([...flagSet.flags.keys()])
    const descending = flagSetDefinition(['c', 'b', 'a'].map((key) => flagDefinition(key)))
    expect([...compileFlagSet(descending).flags.keys()]).toEqual(['a', 'b', 'c'])
  })

  it('compileFlagSet reuses only the compiled form of equal definitions', () => {
    const definition = flagSetDefinition(
      [flagDefinition('a'), gradualFlag('b', START)],
      [segmentDefinition('s'), segmentDefinition('t')],
    )
    const before = compileFlagSet(definition)
    const after = compileFlagSet(
      {
        version: 2,
        flags: [flagDefinition('a', { isActive: false }), structuredClone(gradualFlag('b', START))],
        segments: [segmentDefinition('s'), segmentDefinition('t', { force: true })],
      },
      { previous: before },
    )
    expect(after.version).toBe(2)
    expect(after.flags.get('a')).not.toBe(before.flags.get('a'))
    expect(after.flags.get('b')).toBe(before.flags.get('b'))
    expect(after.segments.get('s')).toBe(before.segments.get('s'))
    expect(after.segments.get('t')).not.toBe(before.segments.get('t'))
    expect(after.timestamps).toBe(before.timestamps)
  })

  it('findIssues returns no issues for a valid definition', () => {
    const flags = [
      flagDefinition('a', { rules: [ruleDefinition({ segmentId: 's' })] }),
      flagDefinition('b', { prerequisites: [{ flagId: 'id of a', variationIds: ['on'] }] }),
      gradualFlag('c', START),
    ]
    expect(findIssues(compileFlagSet(flagSetDefinition(flags, [segmentDefinition('s')])))).toEqual(
      [],
    )
  })

  const rollout = {
    id: 'r',
    bucketBy: 'user.key',
    salt: 'salt',
    scheme: 'ff',
    strategy: 'percentage' as const,
    ranges: [{ variationId: 'on', from: 0, to: 100_000 }],
  }
  const byRollout = ruleDefinition({ variationId: null, rolloutId: 'r' })

  it.each<[string, Partial<FlagDefinition>, RegExp]>([
    ['a default that does not exist', { defaultVariationId: 'x' }, /The default refers to .*"x"/],
    ['an off variation that does not exist', { offVariationId: 'x' }, /The off variation .*"x"/],
    [
      'a target of a variation that does not exist',
      { targets: [{ variationId: 'x', kind: 'user', keys: [] }] },
      /A target .*"x"/,
    ],
    [
      'an invalid value',
      { variations: [...flagDefinition('a').variations, { id: 'x', key: 'x', value: 'no' }] },
      /The variation "x" is invalid\. A boolean/,
    ],
    [
      'a rule for a variation that does not exist',
      { rules: [ruleDefinition({ variationId: 'x' })] },
      /"rule".*"x"/,
    ],
    ['a rule for a rollout that does not exist', { rules: [byRollout] }, /"rule".*"r"/],
    [
      'an unknown operator',
      {
        rules: [ruleDefinition({ conditions: [{ attribute: 'a', operator: 'like', value: '' }] })],
      },
      /"rule".*"like"/,
    ],
    [
      'a rollout of an unknown scheme',
      { rules: [byRollout], rollouts: [{ ...rollout, scheme: 'other' }] },
      /"r".*"other"/,
    ],
    [
      'a range of a variation that does not exist',
      {
        rules: [byRollout],
        rollouts: [{ ...rollout, ranges: [{ variationId: 'x', from: 0, to: 1 }] }],
      },
      /"r".*"x"/,
    ],
    [
      'a segment that does not exist',
      { rules: [ruleDefinition({ segmentId: 's' })] },
      /segment s, which does not/,
    ],
    [
      'a prerequisite that does not exist',
      { prerequisites: [{ flagId: 'x', variationIds: [] }] },
      /flag with the id x, which does not/,
    ],
    [
      'itself as a prerequisite',
      { prerequisites: [{ flagId: 'id of a', variationIds: [] }] },
      /^Prerequisite cycle: a → a\.$/,
    ],
  ])('findIssues names the flag that has %s', (_, changes, message) => {
    const issues = findIssues(compileFlagSet(flagSetDefinition([flagDefinition('a', changes)])))
    expect(issues).toEqual([
      { severity: 'error', flagKey: 'a', message: expect.stringMatching(message) },
    ])
  })

  it('findIssues names a segment that is invalid or part of a cycle', () => {
    const inEach = (id: string) => ({
      rules: [{ attribute: '', operator: 'in_segment', value: id }],
    })
    const definition = flagSetDefinition(
      [],
      [
        segmentDefinition('a', inEach('b')),
        segmentDefinition('b', inEach('a')),
        segmentDefinition('c', { rules: [{ attribute: 'x', operator: 'like', value: '' }] }),
        segmentDefinition('d', inEach('ghost')),
      ],
    )
    expect(findIssues(compileFlagSet(definition)).map(({ segmentId }) => segmentId)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ])
  })

  it('compileFlagSet ignores invalid, nameless and duplicate definitions, and findIssues reports them', () => {
    const flags = [null, { key: 1 }, { key: 'a' }, flagDefinition('b'), flagDefinition('b')]
    const flagSet = compileFlagSet(flagSetDefinition(flags as FlagDefinition[]))
    expect([...flagSet.flags.keys()]).toEqual(['b'])
    expect(findIssues(flagSet)).toHaveLength(4)
    const [numeric, first, second] = [
      { ...flagDefinition('7'), key: 7 } as unknown as FlagDefinition,
      flagDefinition('b', { id: 'first' }),
      flagDefinition('b', { id: 'second' }),
    ]
    const complete = compileFlagSet(flagSetDefinition([numeric, first, second]))
    expect(complete.ordered.map(({ definition }) => definition.id)).toEqual(['first'])
    expect(findIssues(complete)).toHaveLength(2)
    const nothing = compileFlagSet({
      version: 1,
      flags: null,
      segments: 'x',
    } as unknown as FlagSetDefinition)
    expect(nothing.flags.size).toBe(0)
    expect(findIssues(nothing)).toHaveLength(2)
  })

  it('A flag set has the timestamps of active gradual rollouts that a rule uses', () => {
    const hours = (count: number) => Date.parse(START) + count * 3_600_000
    const gradual = gradualFlag('used', START)
    const unused = { ...gradualFlag('unused', '2025-01-01T00:00:00.000Z'), rules: [] }
    const inactive = { ...gradualFlag('inactive', '2025-02-01T00:00:00.000Z'), isActive: false }
    expect(compileFlagSet(flagSetDefinition([gradual, unused, inactive])).timestamps).toEqual([
      hours(0),
      hours(1),
      hours(2),
    ])
  })

  it('A flag set does not read the attributes of removed flags', () => {
    const flags = ['a', 'b', 'c'].map((key) => {
      return flagDefinition(key, { rules: [ruleDefinition({ segmentId: key })] })
    })
    const segments = ['a', 'b', 'c'].map((id) => segmentDefinition(id, { force: true }))
    const before = compileFlagSet(flagSetDefinition(flags, segments))
    evaluateTogether(before, {}, 0)
    const inItself = { rules: [{ attribute: '', operator: 'in_segment', value: 'a' }] }
    const after = compileFlagSet(
      flagSetDefinition(flags.slice(1), [
        segmentDefinition('a', inItself),
        ...segments.slice(1).map((segment) => structuredClone(segment)),
      ]),
      { previous: before },
    )
    const evaluation = evaluateTogether(after, { kind: 'user', key: 'user-1' }, 0)
    expect({ ...valuesOf(evaluation) }).toEqual({ b: true, c: true })
  })

  it('compileFlagSet accepts a chain of prerequisites that is far too long', () => {
    const flags = Array.from({ length: 5_000 }, (_, index) => {
      const prerequisites = [{ flagId: `id of ${index - 1}`, variationIds: ['off'] }]
      return flagDefinition(`${index}`, index === 0 ? {} : { prerequisites })
    })
    expect(compileFlagSet(flagSetDefinition(flags)).malformed.size).toBe(5_000 - 65)
  })
})

describe('compileIncrementally', () => {
  const longList = (index: number) =>
    JSON.stringify(Array.from({ length: 2000 }, (_, number) => `text-${index}-${number}`))
  const flags = Array.from({ length: 40 }, (_, index) => {
    const conditions = [{ attribute: 'it', operator: 'contains', value: longList(index) }]
    return flagDefinition(`flag-${index}`, { rules: [ruleDefinition({ conditions })] })
  })
  const context = { kind: 'user', key: 'u', it: 'a text-7-1999' }

  /** Returns the result and the number of interruptions. */
  function finished<Result>(work: Generator<undefined, Result>): readonly [Result, number] {
    for (let count = 1; ; count += 1) {
      const { done, value } = work.next()
      if (done === true) return [value, count]
    }
  }

  it('A flag set that is compiled incrementally has the same results as one that is compiled on demand', () => {
    const definition = flagSetDefinition(flags)
    const [flagSet] = finished(compileIncrementally(definition))
    const [, count] = finished(prepareDefinitions(flagSet))
    expect(count).toBeGreaterThan(40)
    const whole = compileFlagSet(definition)
    expect([...flagSet.flags.keys()]).toEqual([...whole.flags.keys()])
    expect(valuesOf(evaluateTogether(flagSet, context, 0))).toEqual(
      valuesOf(evaluateTogether(whole, context, 0)),
    )
    expect(valuesOf(evaluateTogether(whole, context, 0))).toMatchObject({
      'flag-7': true,
      'flag-8': false,
    })
  })

  it('Flags that the previous flag set has compiled are not compiled again', () => {
    const previous = compileFlagSet(flagSetDefinition(flags))
    runToEnd(prepareDefinitions(previous))
    const copy = structuredClone(flagSetDefinition(flags))
    const [next, count] = finished(compileIncrementally(copy, { previous }))
    expect(count).toBeLessThan(10)
    expect([...prepareDefinitions(next)]).toEqual([])
  })

  it('prepareIncrementally prepares each long condition only once, and yields after each', () => {
    const flagSet = compileFlagSet(flagSetDefinition(flags))
    expect([...prepareIncrementally(flagSet)].length).toBeGreaterThan(40)
    const next = compileFlagSet(flagSetDefinition(flags.slice(1)), { previous: flagSet })
    expect([...prepareIncrementally(next)].length).toBeLessThan(10)
  })
})
