import { FlagdCore } from '@openfeature/flagd-core'
import { flagsOf, rulesOf } from './flags.js'

/** The forms of conditions by operator. */
const FORMS = new Map([
  ['eq', (found, value) => ({ '===': [found, value] })],
  ['neq', (found, value) => ({ '!==': [found, value] })],
  ['in', (found, value) => ({ in: [found, value] })],
  ['not_in', (found, value) => ({ '!': { in: [found, value] } })],
  ['gt', (found, value) => ({ '>': [found, value] })],
  ['gte', (found, value) => ({ '>=': [found, value] })],
  ['lt', (found, value) => ({ '<': [found, value] })],
  ['lte', (found, value) => ({ '<=': [found, value] })],
  ['semver_gte', (found, value) => ({ sem_ver: [found, '>=', value] })],
  ['semver_lt', (found, value) => ({ sem_ver: [found, '<', value] })],
  ['starts_with', (found, value) => ({ starts_with: [found, value] })],
  ['ends_with', (found, value) => ({ ends_with: [found, value] })],
  ['contains', (found, value) => ({ in: [value, found] })],
])

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
    // `resolveAll` omits disabled flags.
    const disabled = Object.fromEntries(
      flags.filter(({ isActive }) => !isActive).map(({ key }) => [key, false]),
    )
    return {
      contextOf: (user) => ({ ...user, targetingKey: user.key }),
      value: (context) => core.resolveBooleanEvaluation(first, false, context).value,
      values: (context) => core.resolveAll(context),
      read: (values) => {
        const found = Object.fromEntries(values.map(({ flagKey, value }) => [flagKey, value]))
        return { ...disabled, ...found }
      },
    }
  },
}

function configurationOf(flag) {
  const served = (value) => servedOf(value, flag.bucketBy)
  const branches = rulesOf(flag).flatMap((rule) => [conditionOf(rule), served(rule.serves)])
  return {
    state: flag.isActive ? 'ENABLED' : 'DISABLED',
    variants: { on: true, off: false },
    defaultVariant: served(flag.fallback),
    targeting: { if: [...branches, served(flag.fallback)] },
  }
}

function servedOf(value, bucketBy) {
  if (value !== undefined) return value ? 'on' : 'off'
  const halves = [
    ['on', 50],
    ['off', 50],
  ]
  // The key of the context is the default.
  const bucketed = { cat: [{ var: '$flagd.flagKey' }, { var: bucketBy }] }
  return { fractional: bucketBy === 'key' ? halves : [bucketed, ...halves] }
}

function conditionOf({ all, any }) {
  const tests = all.map(testOf)
  if (any !== undefined) tests.push({ or: any.map(testOf) })
  if (tests.length === 0) return true
  return tests.length === 1 ? tests[0] : { and: tests }
}

function testOf({ attribute, operator, value }) {
  return FORMS.get(operator)({ var: attribute }, value)
}
