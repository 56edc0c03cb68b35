import { basicLogger, init } from '@launchdarkly/node-server-sdk'
import { TestData } from '@launchdarkly/node-server-sdk/integrations'
import { flagsOf, flatRulesOf } from './flags.js'

/** @type {import('../peer.ts').Peer} */
export const launchdarkly = {
  name: 'LaunchDarkly',
  package: '@launchdarkly/node-server-sdk',
  async prepare(definition) {
    const flags = flagsOf(definition)
    const source = new TestData()
    for (const flag of flags) await source.usePreconfiguredFlag(flagOf(flag))
    const client = init('none', {
      updateProcessor: source.getFactory(),
      sendEvents: false,
      diagnosticOptOut: true,
      logger: basicLogger({ level: 'none' }),
    })
    await client.waitForInitialization({ timeout: 10 })
    const first = flags[0]?.key
    return {
      contextOf: (user) => user,
      value: (context) => client.boolVariation(first, context, false),
      values: async (context) => (await client.allFlagsState(context)).allValues(),
      read: (values) => values,
      close: () => client.close(),
    }
  },
}

function flagOf(flag) {
  const [last, ...others] = flatRulesOf(flag).toReversed()
  const forAll = last !== undefined && last.all.length === 0
  const rules = forAll ? others.toReversed() : flatRulesOf(flag)
  return {
    key: flag.key,
    version: 1,
    on: true,
    variations: [true, false],
    offVariation: 1,
    salt: flag.key,
    fallthrough: servedOf(forAll ? last.serves : flag.fallback),
    rules: rules.map(({ all, serves }, index) => ({
      id: `rule-${index}`,
      clauses: all.map(({ attribute, values }) => {
        return { attribute, op: 'in', values, contextKind: 'user', negate: false }
      }),
      ...servedOf(serves),
    })),
  }
}

function servedOf(value) {
  if (value !== undefined) return { variation: value ? 0 : 1 }
  return {
    rollout: {
      contextKind: 'user',
      variations: [0, 1].map((variation) => ({ variation, weight: 50_000 })),
    },
  }
}
