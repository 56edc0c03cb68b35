import fc from 'fast-check'
import type {
  ConditionDefinition,
  FlagDefinition,
  FlagSetDefinition,
  PrerequisiteDefinition,
  RolloutDefinition,
  RuleDefinition,
  SegmentDefinition,
} from '../src/index.ts'
import { BUCKETS } from '../src/index.ts'
import { anyAttributeCondition, anyPairOfConditions, mostly } from './condition-arbitraries.ts'

/**
 * Names from small pools, so that definitions often refer to each other, and sometimes to
 * definitions that do not exist.
 */
const FLAG_KEYS = ['beta', 'checkout', 'theme', '7', '__proto__', 'constructor', 'müsli']
const SEGMENT_IDS = ['s-1', 's-2', 's-3', '__proto__']
const VARIATION_IDS = ['v-1', 'v-2', 'v-3']
const ROLLOUT_IDS = ['r-1', 'r-2']
/** Salts with prefixes of all lengths modulo 4. Some are not ASCII. */
const SALTS = [
  ...['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg', 'abcdefgh', 'abcdefghi'],
  ...['aB3dE5gH7jK', '0b2ad6f0-5a55-4f0c-9c57-0f3f3d2f8f11', 'nïve', 'соль'],
]

/** The definitions that a definition can refer to without a cycle. */
interface Earlier {
  readonly flags: readonly string[]
  readonly segments: readonly string[]
}

const HOUR_MS = 3_600_000
/** The start of all random gradual rollouts: 2026-01-01T00:00:00Z in epoch milliseconds. */
const GRADUAL_START = 1_767_225_600_000

/** Timestamps near the steps of random gradual rollouts. */
export const anyNow: fc.Arbitrary<number> = fc.integer({
  min: GRADUAL_START - 2 * HOUR_MS,
  max: GRADUAL_START + 14 * HOUR_MS,
})

function flagId(key: string): string {
  return `id of ${key}`
}

function anyCondition(earlier: Earlier): fc.Arbitrary<ConditionDefinition> {
  const { segments } = earlier
  const pairs = segments.slice(1).map((id, at) => JSON.stringify([segments[at], id]))
  const onSegment = fc.record({
    attribute: fc.constant(''),
    operator: fc.constantFrom('in_segment', 'in_segment', 'not_in_segment'),
    value: mostly(
      [...segments, ...segments.map((id) => JSON.stringify([id])), ...pairs],
      [...SEGMENT_IDS, 'missing', '[]'],
    ),
  })
  const onFlag = fc.record({
    attribute: mostly(earlier.flags, [...FLAG_KEYS, 'missing']),
    operator: fc.constantFrom('flag_is', 'flag_is_not'),
    value: fc.constantFrom('on', 'off', '["on","other"]'),
  })
  return fc
    .tuple(
      fc.oneof(
        { weight: 4, arbitrary: anyAttributeCondition },
        { weight: segments.length === 0 ? 0 : 1, arbitrary: onSegment },
        { weight: earlier.flags.length === 0 ? 0 : 1, arbitrary: onFlag },
      ),
      fc.boolean(),
    )
    .map(([condition, negate]) => (negate ? { ...condition, negate } : condition))
}

/** Up to three conditions, sometimes several on the same attribute. */
function anyConditions(earlier: Earlier): fc.Arbitrary<readonly ConditionDefinition[]> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.array(anyCondition(earlier), { maxLength: 3 }) },
    { weight: 1, arbitrary: anyPairOfConditions },
  )
}

const anyRollout = (id: string): fc.Arbitrary<RolloutDefinition> => {
  const basis = {
    id: fc.constant(id),
    bucketBy: fc.constantFrom(
      'user.key',
      'organization.key',
      'account',
      'account',
      'age',
      'missing',
    ),
    salt: fc.constantFrom(...SALTS),
    scheme: mostly(['ff'], ['foreign']),
  }
  const variationId = mostly(VARIATION_IDS, ['missing'])
  const anyRanges = fc
    .tuple(fc.nat({ max: BUCKETS }), fc.nat({ max: BUCKETS }), variationId, variationId)
    .map(([a, b, first, second]) => [
      { variationId: first, from: 0, to: Math.min(a, b) },
      { variationId: second, from: Math.min(a, b), to: Math.max(a, b) },
    ])
  return fc.oneof(
    fc.record({
      ...basis,
      strategy: fc.constantFrom('percentage' as const, 'variant' as const),
      ranges: anyRanges,
    }),
    fc.record({
      ...basis,
      strategy: fc.constant('gradual' as const),
      variationId,
      targetPercentage: fc.constantFrom(0, 30, 50, 100),
      increment: mostly([7.5, 10, 100], [0]),
      intervalHours: fc.constantFrom(0.5, 1, 3),
      startAt: mostly(['2026-01-01T00:00:00.000Z'], ['nonsense']),
    }),
  )
}

const anyRule = (earlier: Earlier): fc.Arbitrary<RuleDefinition> =>
  fc.record({
    id: fc.constantFrom('rule-1', 'rule-2', 'rule-3'),
    orderIndex: fc.integer({ min: 0, max: 2 }),
    createdAt: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'),
    conditions: anyConditions(earlier),
    segmentId: mostly([null, null, ...earlier.segments], [...SEGMENT_IDS, 'missing']),
    variationId: mostly([null, ...VARIATION_IDS], ['missing']),
    rolloutId: mostly([null, ...ROLLOUT_IDS], ['missing']),
  })

const anyVariations = fc.oneof(
  fc.subarray(VARIATION_IDS, { minLength: 1 }),
  fc.subarray(VARIATION_IDS, { minLength: 2 }),
)

/** Up to three prerequisites. Half of the flags have none. */
function anyPrerequisites({ flags }: Earlier): fc.Arbitrary<readonly PrerequisiteDefinition[]> {
  if (flags.length === 0) return fc.constant([])
  const prerequisite = fc.record({
    flagId: mostly(flags, [...FLAG_KEYS, 'missing']).map(flagId),
    variationIds: anyVariations,
  })
  return fc.oneof(fc.constant([]), fc.array(prerequisite, { minLength: 1, maxLength: 3 }))
}

const VALUES = {
  boolean: ['true', 'false'],
  string: ['', 'text', '"quoted"'],
  number: ['0', '-1.5'],
  json: ['{"a":[1,null]}', 'null'],
} as const

const anyFlag = (key: string, earlier: Earlier): fc.Arbitrary<FlagDefinition> =>
  fc.constantFrom('boolean', 'string', 'number', 'json').chain((type) =>
    fc.record({
      id: fc.constant(flagId(key)),
      key: fc.constant(key),
      type: fc.constant(type),
      isActive: fc.nat({ max: 11 }).map((number) => number !== 7),
      variations: fc.tuple(
        ...VARIATION_IDS.map((id, index) =>
          fc.record({
            id: fc.constant(id),
            key: fc.constant(['on', 'off', 'other'][index] ?? 'other'),
            value: mostly<string>(VALUES[type], ['{', '1e999']),
          }),
        ),
      ),
      defaultVariationId: mostly(VARIATION_IDS, ['missing']),
      offVariationId: mostly([null, ...VARIATION_IDS], ['missing']),
      targets: fc.array(
        fc.record({
          variationId: mostly(VARIATION_IDS, ['missing']),
          kind: fc.constantFrom('user', 'user', 'organization', 'device'),
          keys: fc.subarray(['user-1', 'user-2', '42', 'k']),
        }),
        { maxLength: 3 },
      ),
      prerequisites: anyPrerequisites(earlier),
      rules: fc.array(anyRule(earlier), { maxLength: 5 }),
      rollouts: fc.tuple(...ROLLOUT_IDS.map(anyRollout)),
    }),
  )

const anySegment = (id: string, earlier: Earlier): fc.Arbitrary<SegmentDefinition> =>
  fc.record({
    id: fc.constant(id),
    key: fc.constant(id),
    rules: anyConditions(earlier),
    logicalOp: fc.constantFrom('AND', 'OR', 'NOT'),
    force: fc.constantFrom(false, false, true),
    keyAttribute: fc.constantFrom('user.key', 'plan'),
    included: fc.subarray(['user-1', 'pro', '42']),
    excluded: fc.subarray(['user-2', 'free', '42']),
  })

/** Definitions with valid and broken parts. All parts have the declared type. */
export const anyDefinition: fc.Arbitrary<FlagSetDefinition> = fc
  .tuple(fc.subarray(FLAG_KEYS), fc.subarray(SEGMENT_IDS), fc.nat({ max: 9 }))
  .chain(([keys, ids, version]) =>
    fc.record({
      version: fc.constant(version),
      flags: fc.tuple(
        ...keys.map((key, index) => anyFlag(key, { flags: keys.slice(0, index), segments: ids })),
      ),
      segments: fc.tuple(
        ...ids.map((id, index) => anySegment(id, { flags: [], segments: ids.slice(0, index) })),
      ),
    }),
  )

/** Pairs of definitions that have most parts in common. */
export const anyChange: fc.Arbitrary<readonly [FlagSetDefinition, FlagSetDefinition]> = fc
  .tuple(anyDefinition, anyDefinition, fc.infiniteStream(fc.nat({ max: 9 })))
  .map(([before, other, choices]) => {
    const isTaken = () => (choices.next().value ?? 0) < 2
    return [before, { version: before.version + 1, ...mixed(before, other, isTaken) }]
  })

function mixed(before: FlagSetDefinition, other: FlagSetDefinition, isTaken: () => boolean) {
  const mix = <Part extends { readonly id: string }>(
    old: readonly Part[],
    fresh: readonly Part[],
  ) => {
    const parts = new Map(old.map((part) => [part.id, part]))
    for (const part of old) if (isTaken()) parts.delete(part.id)
    for (const part of fresh) if (isTaken()) parts.set(part.id, part)
    // Unchanged parts are copied, as if they were read from a store again.
    return [...parts.values()].map((part) => structuredClone(part))
  }
  return { flags: mix(before.flags, other.flags), segments: mix(before.segments, other.segments) }
}

/** Definitions in which one part, at any depth, is replaced by any JSON value. */
export const anyPoison: fc.Arbitrary<FlagSetDefinition> = fc
  .tuple(anyDefinition, fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), fc.jsonValue())
  .map(([definition, path, poison]) => {
    const copy = structuredClone(definition) as unknown as Record<string, unknown>
    let parent = copy
    for (const [depth, choice] of path.entries()) {
      const names = Object.keys(parent)
      const name = names[choice % names.length]
      if (name === undefined) break
      const child = parent[name]
      const isLast = depth === path.length - 1 || typeof child !== 'object' || child === null
      if (isLast) {
        parent[name] = poison
        break
      }
      parent = child as Record<string, unknown>
    }
    return copy as unknown as FlagSetDefinition
  })
