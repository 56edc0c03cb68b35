import { EventEmitter } from 'node:events'
import { Unleash } from 'unleash-client'
import { flagsOf, flatRulesOf, recordOf, rulesOf } from './flags.js'

/** The forms of conditions by operator. */
const FORMS = new Map([
  ['eq', (value) => ({ operator: 'IN', values: [value] })],
  ['neq', (value) => ({ operator: 'NOT_IN', values: [value] })],
  ['in', (value) => ({ operator: 'IN', values: value })],
  ['not_in', (value) => ({ operator: 'NOT_IN', values: value })],
  ['gt', (value) => ({ operator: 'NUM_GT', value: String(value) })],
  ['gte', (value) => ({ operator: 'NUM_GTE', value: String(value) })],
  ['lt', (value) => ({ operator: 'NUM_LT', value: String(value) })],
  ['lte', (value) => ({ operator: 'NUM_LTE', value: String(value) })],
  ['semver_gte', (value) => ({ operator: 'SEMVER_GTE', value })],
  ['semver_lt', (value) => ({ operator: 'SEMVER_LT', value })],
  ['starts_with', (value) => ({ operator: 'STR_STARTS_WITH', values: [value] })],
  ['ends_with', (value) => ({ operator: 'STR_ENDS_WITH', values: [value] })],
  ['contains', (value) => ({ operator: 'STR_CONTAINS', values: [value] })],
])

/** @type {import('../peer.ts').Peer} */
export const unleash = {
  name: 'Unleash',
  package: 'unleash-client',
  async prepare(definition) {
    const toggles = new Map(flagsOf(definition).map((flag) => [flag.key, toggleOf(flag)]))
    const client = new Unleash({
      appName: 'bench',
      url: 'https://unleash.invalid/api/',
      disableMetrics: true,
      skipInstanceCountWarning: true,
      repository: new Toggles(toggles),
    })
    await new Promise((resolve) => client.once('ready', resolve))
    const calls = [...toggles.values()].map(({ name, strategies }) => {
      if (strategies.every(({ variants }) => variants === undefined)) {
        return (context) => client.isEnabled(name, context)
      }
      return (context) => {
        const variant = client.getVariant(name, context)
        return variant.feature_enabled && variant.name !== 'off'
      }
    })
    return {
      contextOf: ({ key, kind: _kind, ...properties }) => ({ userId: key, properties }),
      value: calls[0],
      values: (context) => calls.map((call) => call(context)),
      read: (values) => recordOf([...toggles.keys()], values),
      close: () => client.destroy(),
    }
  },
}

/** A repository that replaces the one that fetches from a server. */
class Toggles extends EventEmitter {
  #toggles

  constructor(toggles) {
    super()
    this.#toggles = toggles
  }

  getToggle(name) {
    return this.#toggles.get(name)
  }

  getSegment() {
    return undefined
  }

  async start() {
    this.emit('ready')
  }

  stop() {}
}

function toggleOf(flag) {
  if (flag.fallback) throw new Error('a toggle that is not enabled is off')
  const rules = flatRulesOf(rulesOf(flag))
  const stickiness = nameOf(flag.bucketBy)
  return {
    name: flag.key,
    type: 'release',
    enabled: flag.isActive,
    impressionData: false,
    strategies: rules.map(({ all, serves }, index) => ({
      ...servedOf(serves, flag.key, stickiness, index === rules.length - 1),
      constraints: all.map(constraintOf),
    })),
  }
}

function constraintOf({ attribute, operator, value }) {
  return { contextName: nameOf(attribute), ...FORMS.get(operator)(value), inverted: false }
}

function nameOf(attribute) {
  return attribute === 'key' ? 'userId' : attribute
}

/** Returns a strategy. It enables `on` if it matches, unless it has variants. */
function servedOf(serves, groupId, stickiness, isLast) {
  if (serves === undefined && isLast) {
    const parameters = { rollout: '50', stickiness, groupId }
    return { name: 'flexibleRollout', parameters }
  }
  const variant = (name, weight) => ({ name, weight, weightType: 'fix', stickiness })
  const always = { name: 'default', parameters: { groupId } }
  if (serves === true) return always
  const variants =
    serves === false ? [variant('off', 1000)] : [variant('on', 500), variant('off', 500)]
  return { ...always, variants }
}
