import { EventEmitter } from 'node:events'
import { FlagdCore } from '@openfeature/flagd-core'
import { type Context, Unleash } from 'unleash-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { manyKeys, NO_PART, partName, partsOf, type Split } from './splits.ts'

const KEYS = manyKeys()
const SALTS = ['checkout', 'größe-価格-😀']

/** Returns the keys that the engine and another program assign to different parts. */
function differences(
  scheme: string,
  splits: readonly Split[],
  expected: (split: Split, key: string) => string,
): string[] {
  const partOf = partsOf(scheme, splits)
  return splits.flatMap((split) => {
    const different = KEYS.filter((key) => partOf(split, key) !== expected(split, key))
    return different.map((key) => `${split.key}: ${JSON.stringify(key)}`)
  })
}

function splitOf(key: string, salt: string, weights: readonly number[]): Split {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return { key, salt, strategy: 'variant', weights, total }
}

describe('unleash-client', () => {
  const percentages = [1, 37, 99].map((percentage): Split => {
    return {
      key: `${percentage} %`,
      salt: SALTS[percentage % 2] ?? '',
      strategy: 'percentage',
      weights: [percentage],
      total: 100,
    }
  })
  const variants = [
    splitOf('thousand', SALTS[0] ?? '', [334, 333, 333]),
    splitOf('sevenths', SALTS[1] ?? '', [1, 2, 4]),
  ]
  let client: Unleash

  beforeAll(async () => {
    client = await startUnleash([...percentages, ...variants])
  })
  afterAll(() => client.destroy())

  const expected = ({ key: flagKey, strategy }: Split, key: string) => {
    const context: Context = { userId: key }
    if (strategy === 'variant') return client.getVariant(flagKey, context).name
    return client.isEnabled(flagKey, context) ? partName(0) : NO_PART
  }

  it('The scheme unleash-node includes the same of 20,000 keys in percentages as unleash-client', () => {
    expect(differences('unleash-node', percentages, expected)).toEqual([])
  })

  it('The scheme unleash-node selects the same variants for 20,000 keys as unleash-client', () => {
    expect(differences('unleash-node', variants, expected)).toEqual([])
  })
})

describe('flagd-core', () => {
  const splits = [
    splitOf('hundred', 'hundred', [50, 30, 20]),
    splitOf('größe', 'größe', [1, 2, 4]),
    splitOf('prefix', SALTS[1] ?? '', [1, 99]),
    splitOf('no-prefix', '', [500, 500]),
  ]
  const core = new FlagdCore()
  const flags = splits.map((split) => [split.key, flagdFlag(split)] as const)
  core.setConfigurations(JSON.stringify({ flags: Object.fromEntries(flags) }))

  it('The scheme flagd-js selects the same variants for 20,000 keys as flagd-core', () => {
    const expected = ({ key: flagKey }: Split, targetingKey: string) => {
      return core.resolveStringEvaluation(flagKey, NO_PART, { targetingKey }).value
    }
    expect(differences('flagd-js', splits, expected)).toEqual([])
  })
})

/** Starts a client of Unleash with these splits. It sends no requests. */
async function startUnleash(splits: readonly Split[]): Promise<Unleash> {
  const features = new Map(splits.map((split) => [split.key, unleashFeature(split)]))
  const repository = Object.assign(new EventEmitter(), {
    getToggle: (name: string) => features.get(name),
    getToggles: () => [...features.values()],
    getTogglesWithSegmentData: () => [],
    getSegment: () => undefined,
    start: async () => {
      repository.emit('ready')
    },
    stop: () => {},
  })
  const client = new Unleash({
    appName: 'test',
    url: 'https://unleash.invalid/api/',
    disableMetrics: true,
    disableAutoStart: true,
    skipInstanceCountWarning: true,
    repository,
  })
  await client.start()
  return client
}

function unleashFeature({ key, salt, strategy, weights }: Split) {
  const stickiness = 'userId'
  const rollout = strategy === 'variant' ? 100 : weights[0]
  const variants = weights.map((weight, index) => ({ name: partName(index), weight, stickiness }))
  return {
    name: key,
    enabled: true,
    strategies: [
      {
        name: 'flexibleRollout',
        parameters: { rollout: String(rollout), stickiness, groupId: salt },
        constraints: [],
        variants: strategy === 'variant' ? variants : [],
      },
    ],
  }
}

/** Returns a flag of flagd. Without an expression, flagd prepends the key of the flag. */
function flagdFlag({ key, salt, weights }: Split) {
  const names = weights.map((_, index) => partName(index))
  const parts = weights.map((weight, index) => [partName(index), weight])
  const expression = salt === key ? [] : [{ cat: [salt, { var: 'targetingKey' }] }]
  return {
    state: 'ENABLED',
    variants: Object.fromEntries(names.map((name) => [name, name])),
    defaultVariant: names[0],
    targeting: { fractional: [...expression, ...parts] },
  }
}
