import type {
  ConditionDefinition,
  FlagDefinition,
  FlagSetDefinition,
  RuleDefinition,
  SegmentDefinition,
} from '../src/index.ts'

/** The time of all evaluations: 2026-01-01T00:00:00Z in epoch milliseconds. */
export const NOW = 1_767_225_600_000

/** The context of every workload. */
export type UserContext = {
  readonly kind: 'user'
  readonly key: string
  readonly plan: string
  readonly country: string
  readonly city: string
  readonly language: string
  readonly device: string
  readonly channel: string
}

/** Returns a generator of pseudo-random integers that are the same in every run. */
export function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const names = (prefix: string, count: number) => {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`)
}

const PLANS = ['free', 'starter', 'pro', 'team', 'enterprise']
const COUNTRIES = names('country-', 60)
const CITIES = names('city-', 400)
const LANGUAGES = names('lang-', 40)
const DEVICES = ['ios', 'android', 'web', 'desktop', 'tv', 'watch']
const CHANNELS = names('channel-', 12)

/** Returns a random UUID. */
export function uuid(pick: (below: number) => number): string {
  const digits = Array.from({ length: 32 }, () => pick(16).toString(16)).join('')
  return [0, 8, 12, 16, 20].map((at, part) => digits.slice(at, [8, 12, 16, 20, 32][part])).join('-')
}

/** Returns random users. Each is parsed from JSON, as in a request. */
export function contextsOf(count: number): UserContext[] {
  const pick = chance(7)
  const one = (list: readonly string[]) => list[pick(list.length)] ?? ''
  return Array.from({ length: count }, () => {
    const context: UserContext = {
      kind: 'user',
      key: uuid(pick),
      plan: one(PLANS),
      country: one(COUNTRIES),
      city: one(CITIES),
      language: one(LANGUAGES),
      device: one(DEVICES),
      channel: one(CHANNELS),
    }
    return JSON.parse(JSON.stringify(context)) as UserContext
  })
}

const is = (attribute: string, value: string): ConditionDefinition => {
  return { attribute, operator: 'eq', value }
}

function isOneOf(
  attribute: string,
  list: readonly string[],
  pick: (below: number) => number,
): ConditionDefinition {
  const chosen = new Set<string>()
  while (chosen.size < 20) chosen.add(list[pick(list.length)] ?? '')
  return { attribute, operator: 'in', value: JSON.stringify([...chosen]) }
}

/** Returns a rule with an equality, a list of 20 and sometimes a second equality or a segment. */
function ruleOf(flag: number, number: number, pick: (below: number) => number): RuleDefinition {
  const one = (list: readonly string[]) => list[pick(list.length)] ?? ''
  const equality = [
    () => is('plan', one(PLANS)),
    () => is('device', one(DEVICES)),
    () => is('channel', one(CHANNELS)),
  ][pick(3)]
  const list = [
    () => isOneOf('country', COUNTRIES, pick),
    () => isOneOf('city', CITIES, pick),
    () => isOneOf('language', LANGUAGES, pick),
  ][pick(3)]
  const conditions = [equality?.(), list?.()].filter((each) => each !== undefined)
  const more = pick(4)
  if (more === 0) conditions.push(is('device', one(DEVICES)))
  const serves = pick(3)
  return {
    id: uuid(pick),
    orderIndex: number,
    createdAt: '2026-01-01T00:00:00.000Z',
    conditions,
    segmentId: more === 1 ? `segment-${pick(SEGMENTS)}` : null,
    variationId: serves === 0 ? null : `v${flag}-${serves - 1}`,
    rolloutId: serves === 0 ? `rollout-${flag}` : null,
  }
}

const SEGMENTS = 20

function segmentOf(number: number, pick: (below: number) => number): SegmentDefinition {
  return {
    id: `segment-${number}`,
    key: `segment-${number}`,
    rules: [is('plan', PLANS[number % PLANS.length] ?? ''), isOneOf('country', COUNTRIES, pick)],
    logicalOp: number % 3 === 0 ? 'OR' : 'AND',
    force: false,
    keyAttribute: 'user.key',
    included: [],
    excluded: [],
  }
}

/** Returns a salt like those that the service generates: 11 characters in base 62. */
export function saltOf(pick: (below: number) => number): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  return Array.from({ length: 11 }, () => digits[pick(62)]).join('')
}

/** Returns a flag with two variations, a 50/50 rollout and these rules. */
function flagOf(
  flag: number,
  rules: readonly RuleDefinition[],
  pick: (below: number) => number,
): FlagDefinition {
  const [on, off] = [`v${flag}-0`, `v${flag}-1`]
  return {
    id: uuid(pick),
    key: `feature-${flag}`,
    type: 'boolean',
    isActive: true,
    variations: [
      { id: on, key: 'on', value: 'true' },
      { id: off, key: 'off', value: 'false' },
    ],
    defaultVariationId: off,
    offVariationId: null,
    targets: [],
    prerequisites: [],
    rules,
    rollouts: [
      {
        id: `rollout-${flag}`,
        strategy: 'variant',
        bucketBy: 'user.key',
        salt: saltOf(pick),
        scheme: 'ff',
        ranges: [
          { variationId: on, from: 0, to: 50_000 },
          { variationId: off, from: 50_000, to: 100_000 },
        ],
      },
    ],
  }
}

/** W1: one flag with one rule of three conditions, which half of the users match, and a rollout. */
export function oneFlag(): FlagSetDefinition {
  const pick = chance(1)
  const rule: RuleDefinition = {
    id: 'rule',
    orderIndex: 0,
    createdAt: '2026-01-01T00:00:00.000Z',
    conditions: [
      { attribute: 'plan', operator: 'in', value: JSON.stringify(PLANS.slice(1)) },
      { attribute: 'device', operator: 'in', value: JSON.stringify(DEVICES.slice(0, 5)) },
      { attribute: 'channel', operator: 'in', value: JSON.stringify(CHANNELS.slice(0, 9)) },
    ],
    segmentId: null,
    variationId: null,
    rolloutId: 'rollout-0',
  }
  return { version: 1, flags: [flagOf(0, [rule], pick)], segments: [] }
}

/** W2 and W3: flags with five rules and a 50/50 rollout for all other contexts. */
export function manyFlags(count: number): FlagSetDefinition {
  const pick = chance(count)
  const flags = Array.from({ length: count }, (_, flag) => {
    const rules = [0, 1, 2, 3, 4].map((number) => ruleOf(flag, number, pick))
    const last = { ...ruleOf(flag, 5, pick), conditions: [], segmentId: null, variationId: null }
    return flagOf(flag, [...rules, { ...last, rolloutId: `rollout-${flag}` }], pick)
  })
  const segments = Array.from({ length: SEGMENTS }, (_, number) => segmentOf(number, pick))
  // A copy without shared objects, as if it was read from a store.
  return JSON.parse(JSON.stringify({ version: 1, flags, segments })) as FlagSetDefinition
}

/** W4: one flag for a segment with `keys` included keys. Every second one is the key of a user. */
export function oneSegment(users: readonly UserContext[], keys: number): FlagSetDefinition {
  const pick = chance(4)
  const included = Array.from({ length: keys }, (_, index) => {
    return index % 2 === 0 ? (users[index]?.key ?? uuid(pick)) : uuid(pick)
  })
  const segment: SegmentDefinition = {
    id: 'listed',
    key: 'listed',
    rules: [],
    logicalOp: 'AND',
    force: false,
    keyAttribute: 'user.key',
    included,
    excluded: [],
  }
  const rule: RuleDefinition = {
    id: 'rule',
    orderIndex: 0,
    createdAt: '2026-01-01T00:00:00.000Z',
    conditions: [],
    segmentId: 'listed',
    variationId: null,
    rolloutId: 'rollout-0',
  }
  return { version: 1, flags: [flagOf(0, [rule], pick)], segments: [segment] }
}

/** The users of all workloads. */
export const USERS = contextsOf(1000)

/** Returns a user. Numbers beyond the last user start again at the first. */
export function userAt(turn: number): UserContext {
  const user = USERS[turn % USERS.length]
  if (user === undefined) throw new Error('the list of users is empty')
  return user
}
