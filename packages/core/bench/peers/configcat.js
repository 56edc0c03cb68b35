import { createConsoleLogger, getClient, LogLevel, PollingMode, User } from 'configcat-node'
import { flagsOf, flatRulesOf } from './flags.js'

const IS_ONE_OF = 0
const EQUALS = 28

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
  const rules = flatRulesOf(flag)
  const last = rules.at(-1)
  // A percentage without conditions belongs to the setting instead of a rule.
  const forAll = last !== undefined && last.all.length === 0 && last.serves === undefined
  return {
    t: 0,
    ...served(flag.fallback),
    ...(forAll ? { p: halves } : {}),
    r: (forAll ? rules.slice(0, -1) : rules).map(({ all, serves }) => ({
      c: all.map((test) => ({ u: conditionOf(test) })),
      ...(serves === undefined ? { p: halves } : { s: served(serves) }),
    })),
  }
}

function conditionOf({ attribute, values }) {
  return values.length === 1
    ? { a: attribute, c: EQUALS, s: values[0] }
    : { a: attribute, c: IS_ONE_OF, l: values }
}
