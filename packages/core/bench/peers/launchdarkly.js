import { basicLogger, init } from '@launchdarkly/node-server-sdk'
import { TestData } from '@launchdarkly/node-server-sdk/integrations'
import { flagsOf, flatRulesOf } from './flags.js'

/** The operator, the values and the negation of a condition by our operator. */
const FORMS = new Map([
  ['eq', (value) => ['in', [value], false]],
  ['neq', (value) => ['in', [value], true]],
  ['in', (value) => ['in', value, false]],
  ['not_in', (value) => ['in', value, true]],
  ['gt', (value) => ['greaterThan', [value], false]],
  ['gte', (value) => ['greaterThanOrEqual', [value], false]],
  ['lt', (value) => ['lessThan', [value], false]],
  ['lte', (value) => ['lessThanOrEqual', [value], false]],
  ['semver_gte', (value) => ['semVerLessThan', [value], true]],
  ['semver_lt', (value) => ['semVerLessThan', [value], false]],
  ['starts_with', (value) => ['startsWith', [value], false]],
  ['ends_with', (value) => ['endsWith', [value], false]],
  ['contains', (value) => ['contains', [value], false]],
])

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
  const all = flatRulesOf(flag.rules)
  const last = all.at(-1)
  const forAll = last !== undefined && last.all.length === 0
  const rules = forAll ? all.slice(0, -1) : all
  const { targets } = flag
  return {
    key: flag.key,
    version: 1,
    on: flag.isActive,
    ...(targets.length === 0 ? {} : { targets: [{ variation: 0, values: targets }] }),
    variations: [true, false],
    offVariation: 1,
    salt: flag.key,
    fallthrough: servedOf(forAll ? last.serves : flag.fallback, flag.bucketBy),
    rules: rules.map(({ all, serves }, index) => ({
      id: `rule-${index}`,
      clauses: all.map(clauseOf),
      ...servedOf(serves, flag.bucketBy),
    })),
  }
}

function clauseOf({ attribute, operator, value }) {
  const [op, values, negate] = FORMS.get(operator)(value)
  return { attribute, op, values, contextKind: 'user', negate }
}

function servedOf(value, bucketBy) {
  if (value !== undefined) return { variation: value ? 0 : 1 }
  return {
    rollout: {
      contextKind: 'user',
      ...(bucketBy === 'key' ? {} : { bucketBy }),
      variations: [0, 1].map((variation) => ({ variation, weight: 50_000 })),
    },
  }
}
