import { FlagdCore } from '@openfeature/flagd-core'
import { flagsOf } from './flags.js'

/** @type {import('../peer.ts').Peer} */
export const flagd = {
  name: 'flagd',
  package: '@openfeature/flagd-core',
  prepare(definition) {
    const flags = flagsOf(definition)
    const core = new FlagdCore()
    core.setConfigurations(
      JSON.stringify({
        flags: Object.fromEntries(flags.map((flag) => [flag.key, configurationOf(flag)])),
      }),
    )
    const first = flags[0]?.key
    return {
      contextOf: (user) => ({ ...user, targetingKey: user.key }),
      value: (context) => core.resolveBooleanEvaluation(first, false, context).value,
      values: (context) => core.resolveAll(context),
      read: (values) => Object.fromEntries(values.map(({ flagKey, value }) => [flagKey, value])),
    }
  },
}

function configurationOf({ rules, fallback }) {
  const branches = rules.flatMap((rule) => [conditionOf(rule), servedOf(rule.serves)])
  return {
    state: 'ENABLED',
    variants: { on: true, off: false },
    defaultVariant: servedOf(fallback),
    targeting: { if: [...branches, servedOf(fallback)] },
  }
}

function servedOf(value) {
  if (value === undefined)
    return {
      fractional: [
        ['on', 50],
        ['off', 50],
      ],
    }
  return value ? 'on' : 'off'
}

function conditionOf({ all, any }) {
  const tests = all.map(testOf)
  if (any !== undefined) tests.push({ or: any.map(testOf) })
  if (tests.length === 0) return true
  return tests.length === 1 ? tests[0] : { and: tests }
}

function testOf({ attribute, values }) {
  const found = { var: attribute }
  return values.length === 1 ? { '===': [found, values[0]] } : { in: [found, values] }
}
