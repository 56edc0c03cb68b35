import { GrowthBookClient } from '@growthbook/growthbook'
import { flagsOf, recordOf, rulesOf } from './flags.js'

// GrowthBook reads NODE_ENV at every step, and access to the real environment is slow.
process.env = { ...process.env }

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The forms of conditions by operator. */
const FORMS = new Map([
  ['eq', (value) => value],
  ['neq', (value) => ({ $ne: value })],
  ['in', (value) => ({ $in: value })],
  ['not_in', (value) => ({ $nin: value })],
  ['gt', (value) => ({ $gt: value })],
  ['gte', (value) => ({ $gte: value })],
  ['lt', (value) => ({ $lt: value })],
  ['lte', (value) => ({ $lte: value })],
  ['semver_gte', (value) => ({ $vgte: value })],
  ['semver_lt', (value) => ({ $vlt: value })],
  ['starts_with', (value) => ({ $regex: `^${escaped(value)}` })],
  ['ends_with', (value) => ({ $regex: `${escaped(value)}$` })],
  ['contains', (value) => ({ $regex: escaped(value) })],
])

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

function featureOf(flag) {
  const { key, isActive, bucketBy, fallback } = flag
  if (!isActive) return { defaultValue: fallback }
  const rules = rulesOf(flag)
  const bucket = { seed: key, hashAttribute: bucketBy, hashVersion: 2 }
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

function testOf({ attribute, operator, value }) {
  return { [attribute]: FORMS.get(operator)(value) }
}
