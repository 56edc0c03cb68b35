import { EventEmitter } from 'node:events'
import { Unleash } from 'unleash-client'
import { flagsOf, flatRulesOf, recordOf } from './flags.js'

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
  const rules = flatRulesOf(flag)
  return {
    name: flag.key,
    type: 'release',
    enabled: true,
    impressionData: false,
    strategies: rules.map(({ all, serves }, index) => ({
      ...servedOf(serves, flag.key, index === rules.length - 1),
      constraints: all.map(({ attribute, values }) => {
        return { contextName: attribute, operator: 'IN', values, inverted: false }
      }),
    })),
  }
}

/** Returns a strategy. It enables `on` if it matches, unless it has variants. */
function servedOf(serves, groupId, isLast) {
  if (serves === undefined && isLast) {
    const parameters = { rollout: '50', stickiness: 'userId', groupId }
    return { name: 'flexibleRollout', parameters }
  }
  const variant = (name, weight) => ({ name, weight, weightType: 'fix', stickiness: 'userId' })
  const always = { name: 'default', parameters: { groupId } }
  if (serves === true) return always
  const variants =
    serves === false ? [variant('off', 1000)] : [variant('on', 500), variant('off', 500)]
  return { ...always, variants }
}
