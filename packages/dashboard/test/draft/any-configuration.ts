import fc from 'fast-check'
import type {
  Configuration,
  Prerequisite,
  Rollout,
  Rule,
  Target,
} from '../../src/draft/configuration.ts'
import type { Names } from '../../src/draft/sentence.ts'

const uuid = (group: number) => (index: number) =>
  `0000000${group}-0000-4000-8000-00000000000${index}`
/** The ids of variations, rules, rollouts, flags and segments in configurations, by index. */
export const ids = {
  variation: uuid(1),
  rule: uuid(2),
  rollout: uuid(3),
  flag: uuid(4),
  segment: uuid(5),
}

/** Names that are the ids. */
export const namesById: Names = { variation: (id) => id, segment: (id) => id, flag: (id) => id }

const VARIATIONS = [0, 1, 2].map(ids.variation)
/** One of three variations. */
export const anyVariation = fc.constantFrom(...VARIATIONS)
const anyName = fc.constantFrom('Beta', 'Partners', 'All')
/** A condition on one of two attributes. */
export const anyCondition = fc.record({
  attribute: fc.constantFrom('plan', 'country'),
  operator: fc.constantFrom('eq', 'in', 'neq'),
  value: fc.constantFrom('pro', '5', '["a","b","c","d"]'),
})

const NO_SETTINGS = {
  variationId: null,
  percentage: null,
  variants: null,
  targetPercentage: null,
  increment: null,
  intervalHours: null,
  startAt: null,
}

type Settings = Pick<Rollout, 'strategy' | keyof typeof NO_SETTINGS>

const anyVariants = fc
  .tuple(fc.shuffledSubarray(VARIATIONS, { minLength: 1 }), fc.nat({ max: 33 }))
  .map(([served, weight]) => served.map((variationId) => ({ variationId, weight })))

/** The strategy of a rollout with its settings. All gradual rollouts start at 0. */
export const anySettings: fc.Arbitrary<Settings> = fc
  .oneof(
    fc.record({
      strategy: fc.constant('percentage' as const),
      variationId: anyVariation,
      percentage: fc.nat({ max: 100 }),
    }),
    fc.record({
      strategy: fc.constant('variant' as const),
      variants: anyVariants,
    }),
    fc.record({
      strategy: fc.constant('gradual' as const),
      variationId: anyVariation,
      targetPercentage: fc.nat({ max: 100 }),
      increment: fc.constantFrom(7, 25),
      intervalHours: fc.constantFrom(1, 24),
      startAt: fc.constant(new Date(0).toISOString()),
    }),
  )
  .map((settings) => ({ ...NO_SETTINGS, ...settings }))

const anyRollout = (index: number): fc.Arbitrary<Rollout> =>
  fc
    .record({
      id: fc.constant(ids.rollout(index)),
      name: anyName,
      bucketBy: fc.constantFrom('user.key', 'company.key'),
      salt: fc.constantFrom('one', 'two'),
      scheme: fc.constant('ff'),
    })
    .chain((fields) => anySettings.map((settings) => ({ ...fields, ...settings })))

/** A rule that serves a variation, the rollout of its index or, sometimes, that of another rule. */
const anyRule = (index: number): fc.Arbitrary<Rule> =>
  fc
    .record({
      id: fc.constant(ids.rule(index)),
      name: anyName,
      conditions: fc.array(anyCondition, { maxLength: 2 }),
      segmentId: fc.option(fc.constantFrom(ids.segment(0), ids.segment(1))),
      variationId: anyVariation,
      rolloutId: fc.option(fc.constantFrom(ids.rollout(index), ids.rollout(index), ids.rollout(0))),
    })
    .map((rule) => ({
      ...rule,
      kind: rule.segmentId === null ? 'custom' : 'segment',
      variationId: rule.rolloutId === null ? rule.variationId : null,
    }))

const anyRules = fc
  .shuffledSubarray([0, 1, 2, 3])
  .chain((indices) =>
    fc.record({
      targetingRules: fc.tuple(...indices.map(anyRule)),
      rollouts: fc.tuple(...[0, 1, 2, 3].map(anyRollout)),
    }),
  )
  .map(({ targetingRules, rollouts }) => {
    const used = new Set(targetingRules.map(({ rolloutId }) => rolloutId))
    return { targetingRules, rollouts: rollouts.filter(({ id }) => used.has(id)) }
  })

/** Each key of a kind has at most one variation. */
const anyTargets: fc.Arbitrary<Target[]> = fc
  .array(fc.tuple(fc.constantFrom('user', 'company'), fc.constantFrom(...'abcd'), anyVariation), {
    maxLength: 5,
  })
  .map((all) => {
    const targets = new Map<string, Target>()
    for (const [kind, key, variationId] of new Map(
      all.map((each) => [`${each[0]} ${each[1]}`, each]),
    ).values()) {
      const name = `${kind} ${variationId}`
      const { keys } = targets.get(name) ?? { keys: [] }
      targets.set(name, { kind, variationId, keys: [...keys, key] })
    }
    return [...targets.values()]
  })

const anyPrerequisites = fc.shuffledSubarray([0, 1]).chain((indices) =>
  fc.tuple(
    ...indices.map(
      (index): fc.Arbitrary<Prerequisite> =>
        fc.record({
          flagId: fc.constant(ids.flag(index)),
          variationIds: fc.shuffledSubarray(VARIATIONS, { minLength: 1 }),
        }),
    ),
  ),
)

/**
 * Any valid configuration with few ids, so that two of them have much in common: with segments,
 * all strategies, shared rollouts, targets and prerequisites.
 */
export const anyConfiguration: fc.Arbitrary<Configuration> = fc
  .record({
    isActive: fc.boolean(),
    defaultVariationId: fc.option(anyVariation),
    offVariationId: fc.option(anyVariation),
    targets: anyTargets,
    prerequisites: anyPrerequisites,
  })
  .chain((state) => anyRules.map((rules) => ({ state, ...rules, revision: 1 })))
