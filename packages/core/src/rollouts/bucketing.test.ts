import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition, ruleDefinition } from '../../test/definitions.ts'
import { findIssues } from '../authoring/issues.ts'
import { evaluateFlag } from '../evaluation/evaluate.ts'
import { compileFlagSet } from '../evaluation/flag-set.ts'
import type { RolloutDefinition } from '../model/definition.ts'
import type { BucketingScheme, Extensions } from '../model/extensions.ts'
import { schemes } from '../schemes.ts'
import { bucketOf } from './bucket.ts'
import { findScheme, rangesFault } from './bucketing.ts'
import { rangesAt } from './rollout.ts'

/** A scheme in which the key `<number>` has that bucket. */
const byName: BucketingScheme = () => Number
const NOW = Date.parse('2026-01-01T01:00:00.000Z')

function rollout(changes: object = {}): RolloutDefinition {
  return {
    id: 'rollout',
    bucketBy: 'user.key',
    salt: 'salt',
    scheme: 'by-name',
    strategy: 'percentage',
    ranges: [{ variationId: 'on', from: 0, to: 25_000 }],
    ...changes,
  } as RolloutDefinition
}

function compile(definition: RolloutDefinition, extensions: Extensions) {
  const rule = ruleDefinition({ variationId: null, rolloutId: 'rollout' })
  const flag = flagDefinition('flag', { rules: [rule], rollouts: [definition] })
  return compileFlagSet(flagSetDefinition([flag]), { extensions })
}

function detail(definition: RolloutDefinition, key: string, extensions: Extensions) {
  return evaluateFlag(compile(definition, extensions), 'flag', { kind: 'user', key }, NOW)
}

describe('findScheme', () => {
  it('findScheme always returns the built-in scheme, which extensions cannot replace', () => {
    for (const extensions of [{}, { schemes: new Map([['ff', byName]]) }]) {
      const bucket = findScheme('ff', extensions)?.({ salt: 'salt', strategy: 'variant' })('7')
      expect(bucket).toBe(bucketOf('salt', '7'))
    }
    const extensions = { schemes: new Map([['ff', byName]]) }
    const all = [{ variationId: 'on', from: 0, to: 100_000 }]
    const own = rollout({ scheme: 'ff', ranges: all })
    expect(detail(own, '7', extensions).bucket).toBe(bucketOf('salt', '7'))
  })

  it('findScheme returns another scheme only if it was passed', () => {
    expect(findScheme('by-name', {})).toBeUndefined()
    expect(findScheme('by-name', { schemes })).toBeUndefined()
    expect(findScheme('by-name', { schemes: new Map([['by-name', byName]]) })).toBe(byName)
    expect(findScheme('constructor', { schemes })).toBeUndefined()
  })
})

describe('rangesFault', () => {
  const range = ([from, to]: readonly [number, number]) => ({ from, to })

  it.each<[string, readonly (readonly [number, number])[], string | undefined]>([
    ['no ranges', [], undefined],
    [
      'ranges that cover all buckets',
      [
        [0, 50_000],
        [50_000, 100_000],
      ],
      undefined,
    ],
    [
      'ranges with a gap and an empty range',
      [
        [5, 6],
        [9, 9],
        [10, 20],
      ],
      undefined,
    ],
    [
      'ranges that overlap',
      [
        [0, 2],
        [1, 3],
      ],
      'overlap',
    ],
    [
      'ranges in descending order',
      [
        [1, 2],
        [0, 1],
      ],
      'overlap',
    ],
    ['a negative start', [[-1, 3]], 'overlap'],
    ['an end past the last bucket', [[0, 100_001]], 'range'],
    ['a fraction as the start', [[0.5, 1]], 'range'],
    ['a fraction as the end', [[0, 1.5]], 'range'],
    ['a range that ends before it starts', [[2, 1]], 'range'],
  ])('rangesFault for %s returns the kind of the fault', (_, ranges, fault) => {
    expect(rangesFault(ranges.map(range))).toBe(fault)
  })

  it.each([
    [undefined, undefined],
    [1, undefined],
    [100_000, undefined],
    [0, 'weight'],
    [100_001, 'weight'],
    [1.5, 'weight'],
    ['5', 'weight'],
    [null, 'weight'],
  ])('rangesFault for the total weight %j returns %j', (totalWeight, fault) => {
    expect(rangesFault([range([0, 1])], totalWeight)).toBe(fault)
  })
})

describe('A rollout with the scheme of another system', () => {
  const extensions = { schemes: new Map([['by-name', byName]]) }

  it('A rollout with a passed scheme serves the ranges of the buckets that the scheme returns', () => {
    const definition = rollout()
    const range = { from: 0, to: 25_000 }
    expect(detail(definition, '24999', extensions)).toMatchObject({
      ...{ value: true, reason: 'SPLIT', bucket: 24_999, range },
    })
    expect(detail(definition, '25000', extensions)).toMatchObject({
      value: false,
      reason: 'DEFAULT',
    })
  })

  it('A gradual rollout can have a passed scheme', () => {
    const gradual = {
      ...{ strategy: 'gradual', variationId: 'on', targetPercentage: 50, increment: 10 },
      ...{ intervalHours: 1, startAt: '2026-01-01T00:00:00.000Z' },
    }
    expect(detail(rollout(gradual), '19999', extensions).value).toBe(true)
    expect(detail(rollout(gradual), '20000', extensions).value).toBe(false)
  })

  it('A rollout has the reason ERROR if its scheme was not passed, and never uses the built-in scheme', () => {
    for (const without of [{}, { schemes }]) {
      expect(detail(rollout(), '0', without)).toMatchObject({
        ...{ value: false, reason: 'ERROR', errorCode: 'MALFORMED_FLAG', rolloutId: 'rollout' },
      })
      expect(findIssues(compile(rollout(), without))).toEqual([
        {
          severity: 'error',
          flagKey: 'flag',
          message:
            'The rollout "rollout" is invalid. ' +
            'The bucketing scheme "by-name" is not available.',
        },
      ])
    }
    expect(findIssues(compile(rollout(), extensions))).toEqual([])
  })

  it('rangesAt returns the ranges of a rollout even if its scheme was not passed', () => {
    expect(rangesAt(rollout(), NOW)).toEqual([{ variationId: 'on', from: 0, to: 25_000 }])
  })

  it('A scheme receives the salt, the strategy, the ranges in order and the total weight of a valid rollout', () => {
    const seen: unknown[] = []
    const spy: BucketingScheme = ({ salt, strategy, ranges, totalWeight }) => {
      seen.push({ salt, strategy, ranges, totalWeight })
      return () => 0
    }
    const ranges = [
      { variationId: 'off', from: 500, to: 900 },
      { variationId: 'on', from: 0, to: 500 },
    ]
    for (const totalWeight of [99, 0]) {
      const definition = rollout({ strategy: 'variant', ranges, totalWeight })
      detail(definition, '0', { schemes: new Map([['by-name', spy]]) })
    }
    const settings = { salt: 'salt', strategy: 'variant', totalWeight: 99 }
    expect(seen).toEqual([{ ...settings, ranges: [ranges[1], ranges[0]] }])
  })

  it.each([0, -1, 1.5, 100_001, Number.NaN])(
    'A rollout refuses a total weight of %d',
    (totalWeight) => {
      const [issue] = findIssues(compile(rollout({ totalWeight }), extensions))
      expect(issue?.message).toContain('The total weight must be an integer from 1 to 100000.')
    },
  )

  it('A rollout uses the passed scheme after an earlier compilation without it', () => {
    const definition = flagSetDefinition([
      flagDefinition('flag', {
        rules: [ruleDefinition({ variationId: null, rolloutId: 'rollout' })],
        rollouts: [rollout()],
      }),
    ])
    const previous = compileFlagSet(definition)
    const flagSet = compileFlagSet(definition, { previous, extensions })
    expect(findIssues(flagSet)).toEqual([])
    expect(evaluateFlag(flagSet, 'flag', { kind: 'user', key: '1' }, NOW).value).toBe(true)
  })
})
