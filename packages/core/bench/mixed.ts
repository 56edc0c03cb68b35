import type {
  ConditionDefinition,
  EvaluationContext,
  FlagDefinition,
  FlagSetDefinition,
  PrerequisiteDefinition,
  RolloutDefinition,
  RuleDefinition,
  SegmentDefinition,
  TargetDefinition,
} from '../src/index.ts'
import { chance, saltOf, uuid } from './workload.ts'

/*
 * The mixed workload: flags as they are after years of use and after imports from other systems. 30 % have
 * individual targets, 20 % prerequisites and 15 % gradual rollouts. There are three bucketing keys and three
 * kinds of salts, nested segments, conditions of all families of operators, and flags that are switched off.
 * Half of the contexts have two kinds.
 */

/** Returns a pseudo-random integer from 0 to `below - 1`. */
export type Pick = (below: number) => number

/** The parts in which flags of two workloads differ. */
export interface Parts {
  readonly types: readonly (keyof typeof VALUES)[]
  conditionOf(pick: Pick): ConditionDefinition
  targetOf(variationId: string, pick: Pick): TargetDefinition
  prerequisitesOf(pick: Pick): readonly PrerequisiteDefinition[]
  rolloutOf(flag: number, pick: Pick): RolloutDefinition
}

const PLANS = ['free', 'starter', 'pro', 'team', 'enterprise']
const DEVICES = ['ios', 'android', 'web', 'desktop', 'tv', 'watch']
const COUNTRIES = Array.from({ length: 60 }, (_, index) => `country-${index}`)
const TIERS = ['bronze', 'silver', 'gold']
const REGIONS = ['eu', 'us', 'apac', 'latam']
const TAGS = Array.from({ length: 30 }, (_, index) => `tag-${index}`)
const DOMAINS = ['example.com', 'example.org', 'mail.test', 'corp.test']
const CREATED_AT = '2026-01-01T00:00:00.000Z'
/** The number of contexts. */
export const CONTEXTS = 1000
const COMPANIES = 50
/** The number of segments. */
export const SEGMENTS = 20

/** The contexts of the workload. Each is parsed from JSON, as in a request. */
export const MIXED_CONTEXTS: readonly EvaluationContext[] = contextsOf()

/** Returns a context. Numbers beyond the last context start again at the first. */
export function contextAt(turn: number): EvaluationContext {
  const context = MIXED_CONTEXTS[turn % CONTEXTS]
  if (context === undefined) throw new Error('the list of contexts is empty')
  return context
}

/** Returns a flag set of the mixed workload. Sets with different seeds have no flag in common. */
export function mixedFlags(count: number, seed = 11): FlagSetDefinition {
  const pick = chance(seed)
  const flags: FlagDefinition[] = []
  const parts: Parts = {
    types: ['boolean', 'boolean', 'boolean', 'string', 'json'],
    conditionOf: anyCondition,
    targetOf,
    prerequisitesOf: () => (pick(5) === 0 ? prerequisitesOf(flags, pick) : []),
    rolloutOf,
  }
  for (let number = 0; number < count; number += 1) flags.push(flagOf(number, parts, pick))
  const segments = Array.from({ length: SEGMENTS }, (_, number) => mixedSegmentOf(number, pick))
  // A copy without shared objects, as if it was read from a store.
  return JSON.parse(JSON.stringify({ version: 1, flags, segments })) as FlagSetDefinition
}

function contextsOf(): EvaluationContext[] {
  const pick = chance(5)
  return Array.from({ length: CONTEXTS }, (_, number) => {
    const user = userOf(number, pick)
    const company = companyOf(pick)
    const context = number % 2 === 0 ? { kind: 'user', ...user } : { kind: 'multi', user, company }
    return JSON.parse(JSON.stringify(context)) as EvaluationContext
  })
}

/** Returns the attributes of a user. */
export function userOf(number: number, pick: Pick) {
  const one = <T>(list: readonly T[]) => list[pick(list.length)]
  return {
    key: `user-${number}`,
    plan: one(PLANS),
    device: one(DEVICES),
    country: one(COUNTRIES),
    email: `${saltOf(pick).toLowerCase()}@${one(DOMAINS)}`,
    accountId: `account-${pick(200)}`,
    age: 18 + pick(60),
    spend: pick(100_000) / 100,
    signedUpAt: new Date(Date.UTC(2020 + pick(6), pick(12), 1 + pick(28))).toISOString(),
    version: `${pick(5)}.${pick(12)}.${pick(20)}`,
    ip: `10.${pick(256)}.${pick(256)}.${pick(256)}`,
    tags: Array.from(new Set([one(TAGS), one(TAGS), one(TAGS)])),
  }
}

function companyOf(pick: Pick) {
  const one = <T>(list: readonly T[]) => list[pick(list.length)]
  return {
    key: `company-${pick(COMPANIES)}`,
    tier: one(TIERS),
    region: one(REGIONS),
    seats: 1 + pick(500),
  }
}

const condition = (attribute: string, operator: string, value: string | number) => {
  return { attribute, operator, value: String(value) }
}
const oneOf = (list: readonly string[], pick: Pick) => list[pick(list.length)] ?? ''
const someOf = (list: readonly string[], size: number, pick: Pick) => {
  return JSON.stringify(Array.from(new Set(Array.from({ length: size }, () => oneOf(list, pick)))))
}

/** Returns a condition, by the family of its operator. */
export const FAMILIES = {
  equal: (pick) => condition('plan', 'eq', oneOf(PLANS, pick)),
  unequal: (pick) => condition('device', 'neq', oneOf(DEVICES, pick)),
  listed: (pick) => condition('country', 'in', someOf(COUNTRIES, 20, pick)),
  unlisted: (pick) => condition('country', 'not_in', someOf(COUNTRIES, 20, pick)),
  path: (pick) => condition('user.plan', 'eq', oneOf(PLANS, pick)),
  otherKind: (pick) => condition('company.tier', 'eq', oneOf(TIERS, pick)),
  listedOrMissing: (pick) => condition('region', 'in', someOf(REGIONS, 2, pick)),
  numberOrMissing: (pick) => condition('seats', 'gte', 1 + pick(500)),
  number: (pick) => condition('age', oneOf(['gt', 'gte', 'lt', 'lte'], pick), 18 + pick(60)),
  range: (pick) => condition('spend', 'between', `[${pick(400)},${500 + pick(500)}]`),
  date: (pick) => {
    const operator = oneOf(['before', 'after'], pick)
    return condition('signedUpAt', operator, `${2020 + pick(6)}-06-01T00:00:00Z`)
  },
  version: (pick) => {
    const operator = oneOf(['semver_gte', 'semver_lt'], pick)
    return condition('version', operator, `${pick(5)}.${pick(12)}.0`)
  },
  network: (pick) => {
    return condition('ip', 'in_cidr', `10.${pick(256)}.0.0/${[9, 10, 11, 16][pick(4)]}`)
  },
  suffix: (pick) => condition('email', 'ends_with', `@${oneOf(DOMAINS, pick)}`),
  prefix: (pick) => condition('email', 'starts_with', 'abcdefghij'[pick(10)] ?? ''),
  pattern: (pick) => condition('email', 'matches', `^[a-${'fmt'[pick(3)]}].*@example\\.`),
  substring: (pick) => condition('accountId', 'contains', String(pick(20))),
  elements: (pick) => condition('tags', 'array_contains_all', someOf(TAGS, 1, pick)),
} as const satisfies Readonly<Record<string, (pick: Pick) => ConditionDefinition>>

const ALL_FAMILIES = Object.values(FAMILIES)

function anyCondition(pick: Pick): ConditionDefinition {
  return conditionOf(ALL_FAMILIES, pick)
}

/** Returns a condition of one of the families. */
export function conditionOf(
  families: readonly ((pick: Pick) => ConditionDefinition)[],
  pick: Pick,
): ConditionDefinition {
  return (families[pick(families.length)] ?? FAMILIES.equal)(pick)
}

function ruleOf(
  flag: number,
  number: number,
  conditionOf: Parts['conditionOf'],
  pick: Pick,
): RuleDefinition {
  return {
    id: uuid(pick),
    orderIndex: number,
    createdAt: CREATED_AT,
    conditions: Array.from({ length: 1 + pick(3) }, () => conditionOf(pick)),
    segmentId: pick(4) === 0 ? `segment-${pick(SEGMENTS)}` : null,
    variationId: `v${flag}-${pick(2)}`,
    rolloutId: null,
  }
}

function rolloutOf(flag: number, pick: Pick): RolloutDefinition {
  const [on, off] = [`v${flag}-0`, `v${flag}-1`]
  const bucketBy = oneOf(['user.key', 'user.key', 'company.key', 'accountId'], pick)
  const basis = { id: `rollout-${flag}`, bucketBy, salt: anySalt(flag, pick), scheme: 'ff' }
  if (pick(4) === 0) {
    const schedule = { targetPercentage: 100, increment: 5, intervalHours: 24 }
    const startAt = `2025-12-${10 + pick(20)}T00:00:00Z`
    return { ...basis, strategy: 'gradual', variationId: on, ...schedule, startAt }
  }
  const middle = 1000 * (1 + pick(99))
  const ranges = [
    { variationId: on, from: 0, to: middle },
    { variationId: off, from: middle, to: 100_000 },
  ]
  return { ...basis, strategy: 'variant', ranges }
}

/** Returns a salt: a UUID, the key of the flag, or 11 characters. */
export function anySalt(flag: number, pick: Pick): string {
  return [() => uuid(pick), () => `feature-${flag}`, () => saltOf(pick)][pick(3)]?.() ?? ''
}

/** The values of the two variations by type. */
const VALUES = {
  boolean: ['true', 'false'],
  string: ['"new"', '"old"'].map((text) => JSON.parse(text) as string),
  json: ['{"limit":10,"theme":{"dark":true}}', '{"limit":5,"theme":{"dark":false}}'],
} as const

/** Returns a flag with one to five rules. Three of five flags have a rollout as the last rule. */
export function flagOf(number: number, parts: Parts, pick: Pick): FlagDefinition {
  const type = parts.types[pick(parts.types.length)] ?? 'boolean'
  const [on, off] = [`v${number}-0`, `v${number}-1`]
  const oneRule = (place: number) => ruleOf(number, place, parts.conditionOf, pick)
  const rules = Array.from({ length: 1 + pick(5) }, (_, place) => oneRule(place))
  const last = { ...oneRule(rules.length), conditions: [], segmentId: null }
  const hasRollout = pick(5) < 3
  return {
    id: uuid(pick),
    key: `feature-${number}`,
    type,
    isActive: pick(20) > 0,
    variations: [on, off].map((id, place) => ({ id, key: id, value: VALUES[type][place] ?? '' })),
    defaultVariationId: off,
    offVariationId: off,
    targets: pick(10) < 3 ? [parts.targetOf(on, pick)] : [],
    prerequisites: parts.prerequisitesOf(pick),
    rules: hasRollout
      ? [...rules, { ...last, variationId: null, rolloutId: `rollout-${number}` }]
      : rules,
    rollouts: hasRollout ? [parts.rolloutOf(number, pick)] : [],
  }
}

function targetOf(variationId: string, pick: Pick): TargetDefinition {
  return pick(5) === 0
    ? { variationId, kind: 'company', keys: keysOf('company', COMPANIES, pick) }
    : { variationId, kind: 'user', keys: keysOf('user', CONTEXTS, pick) }
}

/** Returns up to 50 keys of contexts of a kind. */
export function keysOf(kind: string, contexts: number, pick: Pick): string[] {
  const keys = Array.from({ length: 1 + pick(50) }, () => `${kind}-${pick(contexts)}`)
  return Array.from(new Set(keys))
}

function prerequisitesOf(earlier: readonly FlagDefinition[], pick: Pick) {
  if (earlier.length === 0) return []
  const needed = new Set(
    Array.from({ length: 1 + pick(3) }, () => earlier[pick(earlier.length)] ?? earlier[0]),
  )
  return [...needed].map((flag) => {
    const ids = flag?.variations.map(({ id }) => id) ?? []
    return { flagId: flag?.id ?? '', variationIds: pick(2) === 0 ? ids : ids.slice(0, 1) }
  })
}

/** Returns a segment. Every fourth one lists keys, and every fifth one refers to an earlier one. */
function mixedSegmentOf(number: number, pick: Pick): SegmentDefinition {
  const segment = segmentOf(number, anyCondition, pick)
  const earlier = { attribute: '', operator: 'in_segment', value: `["segment-${number - 3}"]` }
  const included = Array.from({ length: 100 }, () => `user-${pick(CONTEXTS)}`)
  return {
    ...segment,
    rules: number % 5 === 4 ? [...segment.rules, earlier] : segment.rules,
    included: number % 4 === 3 ? Array.from(new Set(included)) : [],
  }
}

/** Returns a segment of one or two conditions. A third of the segments match if one of them matches. */
export function segmentOf(
  number: number,
  conditionOf: Parts['conditionOf'],
  pick: Pick,
): SegmentDefinition {
  return {
    id: `segment-${number}`,
    key: `segment-${number}`,
    rules: Array.from({ length: 1 + pick(2) }, () => conditionOf(pick)),
    logicalOp: number % 3 === 0 ? 'OR' : 'AND',
    force: false,
    keyAttribute: 'user.key',
    included: [],
    excluded: [],
  }
}
