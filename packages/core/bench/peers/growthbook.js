import { GrowthBookClient } from '@growthbook/growthbook'
import { flagsOf, recordOf } from './flags.js'

// GrowthBook reads NODE_ENV at every step, and access to the real environment is slow.
process.env = { ...process.env }

/** @type {import('../peer.ts').Peer} */
export const growthbook = {
  name: 'GrowthBook',
  package: '@growthbook/growthbook',
  prepare(definition) {
    const flags = flagsOf(definition)
    const features = Object.fromEntries(flags.map((flag) => [flag.key, featureOf(flag)]))
    const client = new GrowthBookClient().initSync({ payload: { features } })
    const keys = flags.map(({ key }) => key)
    const first = keys[0]
    return {
      contextOf: (user) => ({ attributes: user }),
      value: (context) => client.evalFeature(first, context).value,
      values: (context) => keys.map((key) => client.evalFeature(key, context).value),
      read: (values) => recordOf(keys, values),
    }
  },
}

function featureOf({ key, rules, fallback }) {
  const bucket = { seed: key, hashAttribute: 'key', hashVersion: 2 }
  // The last rollout is a forced value with a fallback, which is faster than an experiment.
  const rollout = (isLast) => {
    return isLast && !fallback
      ? { ...bucket, force: true, coverage: 0.5 }
      : { ...bucket, key, variations: [true, false], weights: [0.5, 0.5] }
  }
  return {
    defaultValue: fallback,
    rules: rules.map((rule, index) => ({
      ...conditionOf(rule),
      ...(rule.serves === undefined ? rollout(index === rules.length - 1) : { force: rule.serves }),
    })),
  }
}

function conditionOf({ all, any }) {
  const tests = all.map(testOf)
  const attributes = new Set(all.map(({ attribute }) => attribute))
  // One object is fastest, but cannot contain two conditions on one attribute.
  const condition = attributes.size < all.length ? { $and: tests } : Object.assign({}, ...tests)
  if (any !== undefined) condition.$or = any.map(testOf)
  return Object.keys(condition).length === 0 ? {} : { condition }
}

function testOf({ attribute, values }) {
  return { [attribute]: values.length === 1 ? values[0] : { $in: values } }
}
