import type {
  ConditionDefinition,
  EvaluationContext,
  FlagDefinition,
  FlagSetDefinition,
  RolloutDefinition,
  RuleDefinition,
  SegmentDefinition,
} from '../src/index.ts'
import { chance, saltOf, uuid } from './workload.ts'

/*
 * The mixed workload: flags as they are after years of use and after imports from other systems. 30 % have
 * individual targets, 20 % prerequisites and 15 % gradual rollouts. There are three bucketing keys and three
 * kinds of salts, nested segments, conditions of all families of operators, and flags that are switched off.
 * Half of the contexts have two kinds.
 */

type Pick = (below: number) => number

const PLANS = ['free', 'starter', 'pro', 'team', 'enterprise']
const DEVICES = ['ios', 'android', 'web', 'desktop', 'tv', 'watch']
const COUNTRIES = Array.from({ length: 60 }, (_, index) => `country-${index}`)
const TIERS = ['bronze', 'silver', 'gold']
const REGIONS = ['eu', 'us', 'apac', 'latam']
const TAGS = Array.from({ length: 30 }, (_, index) => `tag-${index}`)
const DOMAINS = ['example.com', 'example.org', 'mail.test', 'corp.test']
const CREATED_AT = '2026-01-01T00:00:00.000Z'
const CONTEXTS = 1000
const COMPANIES = 50
const SEGMENTS = 20

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
  for (let number = 0; number < count; number += 1) flags.push(flagOf(number, flags, pick))
  const segments = Array.from({ length: SEGMENTS }, (_, number) => segmentOf(number, pick))
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

function userOf(number: number, pick: Pick) {
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

/** Returns a condition of any family of operators. */
function conditionOf(pick: Pick): ConditionDefinition {
  const one = (list: readonly string[]) => list[pick(list.length)] ?? ''
  const some = (list: readonly string[], size: number) =>
    JSON.stringify(Array.from(new Set(Array.from({ length: size }, () => one(list)))))
  const condition = (attribute: string, operator: string, value: string | number) => {
    return { attribute, operator, value: String(value) }
  }
  const families = [
    () => condition('plan', 'eq', one(PLANS)),
    () => condition('device', 'neq', one(DEVICES)),
    () => condition('country', 'in', some(COUNTRIES, 20)),
    () => condition('country', 'not_in', some(COUNTRIES, 20)),
    () => condition('user.plan', 'eq', one(PLANS)),
    () => condition('company.tier', 'eq', one(TIERS)),
    () => condition('region', 'in', some(REGIONS, 2)),
    () => condition('seats', 'gte', 1 + pick(500)),
    () => condition('age', one(['gt', 'gte', 'lt', 'lte']), 18 + pick(60)),
    () => condition('spend', 'between', `[${pick(400)},${500 + pick(500)}]`),
    () => condition('signedUpAt', one(['before', 'after']), `${2020 + pick(6)}-06-01T00:00:00Z`),
    () => condition('version', one(['semver_gte', 'semver_lt']), `${pick(5)}.${pick(12)}.0`),
    () => condition('ip', 'in_cidr', `10.${pick(256)}.0.0/${[9, 10, 11, 16][pick(4)]}`),
    () => condition('email', 'ends_with', `@${one(DOMAINS)}`),
    () => condition('email', 'starts_with', 'abcdefghij'[pick(10)] ?? ''),
    () => condition('email', 'matches', `^[a-${'fmt'[pick(3)]}].*@example\\.`),
    () => condition('accountId', 'contains', String(pick(20))),
    () => condition('tags', 'array_contains_all', some(TAGS, 1)),
  ]
  return families[pick(families.length)]?.() ?? condition('plan', 'eq', 'pro')
}

function ruleOf(flag: number, number: number, pick: Pick): RuleDefinition {
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
  const basis = {
    id: `rollout-${flag}`,
    bucketBy: ['user.key', 'user.key', 'company.key', 'accountId'][pick(4)] ?? '',
    salt: [() => uuid(pick), () => `feature-${flag}`, () => saltOf(pick)][pick(3)]?.() ?? '',
    scheme: 'ff',
  }
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

/** The values of the two variations by type. */
const VALUES = {
  boolean: ['true', 'false'],
  string: ['"new"', '"old"'].map((text) => JSON.parse(text) as string),
  json: ['{"limit":10,"theme":{"dark":true}}', '{"limit":5,"theme":{"dark":false}}'],
} as const

function flagOf(number: number, earlier: readonly FlagDefinition[], pick: Pick): FlagDefinition {
  const type = (['boolean', 'boolean', 'boolean', 'string', 'json'] as const)[pick(5)] ?? 'boolean'
  const [on, off] = [`v${number}-0`, `v${number}-1`]
  const rules = Array.from({ length: 1 + pick(5) }, (_, place) => ruleOf(number, place, pick))
  const last = { ...ruleOf(number, rules.length, pick), conditions: [], segmentId: null }
  const hasRollout = pick(5) < 3
  return {
    id: uuid(pick),
    key: `feature-${number}`,
    type,
    isActive: pick(20) > 0,
    variations: [on, off].map((id, place) => ({ id, key: id, value: VALUES[type][place] ?? '' })),
    defaultVariationId: off,
    offVariationId: off,
    targets: pick(10) < 3 ? [targetOf(on, pick)] : [],
    prerequisites: pick(5) === 0 ? prerequisitesOf(earlier, pick) : [],
    rules: hasRollout
      ? [...rules, { ...last, variationId: null, rolloutId: `rollout-${number}` }]
      : rules,
    rollouts: hasRollout ? [rolloutOf(number, pick)] : [],
  }
}

function targetOf(variationId: string, pick: Pick) {
  const isCompany = pick(5) === 0
  const [kind, count] = isCompany ? ['company', COMPANIES] : ['user', CONTEXTS]
  const keys = Array.from({ length: 1 + pick(50) }, () => `${kind}-${pick(Number(count))}`)
  return { variationId, kind: String(kind), keys: Array.from(new Set(keys)) }
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
function segmentOf(number: number, pick: Pick): SegmentDefinition {
  const rules = Array.from({ length: 1 + pick(2) }, () => conditionOf(pick))
  if (number % 5 === 4) {
    rules.push({ attribute: '', operator: 'in_segment', value: `["segment-${number - 3}"]` })
  }
  const included = Array.from({ length: 100 }, () => `user-${pick(CONTEXTS)}`)
  return {
    id: `segment-${number}`,
    key: `segment-${number}`,
    rules,
    logicalOp: number % 3 === 0 ? 'OR' : 'AND',
    force: false,
    keyAttribute: 'user.key',
    included: number % 4 === 3 ? Array.from(new Set(included)) : [],
    excluded: [],
  }
}
