import { createConsoleLogger, getClient, LogLevel, PollingMode, User } from 'configcat-node'
import { flagsOf, flatRulesOf, rulesOf } from './flags.js'

/** The comparator and the value of a condition by operator. */
const FORMS = new Map([
  ['eq', (value) => ({ c: 28, s: value })],
  ['neq', (value) => ({ c: 29, s: value })],
  ['in', (value) => ({ c: 0, l: value })],
  ['not_in', (value) => ({ c: 1, l: value })],
  ['gt', (value) => ({ c: 14, d: value })],
  ['gte', (value) => ({ c: 15, d: value })],
  ['lt', (value) => ({ c: 12, d: value })],
  ['lte', (value) => ({ c: 13, d: value })],
  ['semver_gte', (value) => ({ c: 9, s: value })],
  ['semver_lt', (value) => ({ c: 6, s: value })],
  ['starts_with', (value) => ({ c: 30, l: [value] })],
  ['ends_with', (value) => ({ c: 32, l: [value] })],
  ['contains', (value) => ({ c: 2, l: [value] })],
])

let clients = 0

/** @type {import('../peer.ts').Peer} */
export const configcat = {
  name: 'ConfigCat',
  package: 'configcat-node',
  async prepare(definition) {
    const flags = flagsOf(definition)
    const config = {
      p: { u: 'https://config.invalid', r: 0, s: 'salt' },
      f: Object.fromEntries(flags.map((flag) => [flag.key, settingOf(flag)])),
    }
    const cached = `${Date.now()}\netag\n${JSON.stringify(config)}`
    clients += 1
    const client = getClient(keyOf(clients), PollingMode.ManualPoll, {
      offline: true,
      logger: createConsoleLogger(LogLevel.Error),
      cache: { get: () => cached, set: () => undefined },
    })
    await client.waitForReady()
    const snapshot = client.snapshot()
    const first = flags[0]?.key
    return {
      contextOf: ({ key, kind: _kind, ...custom }) => new User(key, undefined, undefined, custom),
      value: (context) => snapshot.getValue(first, false, context),
      values: (context) => client.getAllValuesAsync(context),
      read: (values) => {
        return Object.fromEntries(values.map((each) => [each.settingKey, each.settingValue]))
      },
      close: () => client.dispose(),
    }
  },
}

/** Returns a valid SDK key that is unique for each client. */
function keyOf(number) {
  const part = String(number).padStart(22, '0')
  return `${part}/${part}`
}

function settingOf(flag) {
  const served = (value) => ({ v: { b: value }, i: value ? 'on' : 'off' })
  const halves = [true, false].map((value) => ({ p: 50, ...served(value) }))
  if (!flag.isActive) return { t: 0, ...served(flag.fallback) }
  const rules = flatRulesOf(rulesOf(flag))
  const last = rules.at(-1)
  // A percentage without conditions belongs to the setting instead of a rule.
  const forAll = last !== undefined && last.all.length === 0 && last.serves === undefined
  return {
    t: 0,
    ...served(flag.fallback),
    ...(forAll ? { p: halves } : {}),
    ...(flag.bucketBy === 'key' ? {} : { a: flag.bucketBy }),
    r: (forAll ? rules.slice(0, -1) : rules).map(({ all, serves }) => ({
      c: all.map((test) => ({ u: conditionOf(test) })),
      ...(serves === undefined ? { p: halves } : { s: served(serves) }),
    })),
  }
}

function conditionOf({ attribute, operator, value }) {
  return { a: attribute === 'key' ? 'Identifier' : attribute, ...FORMS.get(operator)(value) }
}
