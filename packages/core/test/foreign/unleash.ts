import {
  BUCKETS,
  type ConditionDefinition,
  type EvaluationContext,
  type FlagDefinition,
  type FlagSetDefinition,
  type JsonValue,
  type RolloutDefinition,
} from '../../src/index.ts'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../definitions.ts'
import { ALWAYS, condition, type Expression, ExpressionWriter, NEVER } from './expression.ts'
import { answerOf, answersOf, idOf, OFF, ON, toVariation } from './unleash-answer.ts'
import { readConstraint } from './unleash-constraint.ts'
import {
  type Dependency,
  type Feature,
  foldEvents,
  type Segment,
  type Strategy,
  type UnleashState,
  type Variant,
} from './unleash-state.ts'

/** The context of a test in the specification. */
export interface UnleashContext {
  readonly userId?: string
  readonly properties?: Readonly<Record<string, JsonValue>>
  readonly [field: string]: JsonValue | undefined
}

/**
 * Returns a user with all fields and properties as attributes, because constraints refer to both.
 */
export function toContext({ properties, ...fields }: UnleashContext): EvaluationContext {
  const key = fields.userId === undefined ? {} : { key: fields.userId }
  return { ...properties, ...fields, ...key, kind: 'user' } as EvaluationContext
}

/** Translates a state. Each possible result is a variation, with its JSON text as the id. */
export function readUnleash(state: UnleashState): FlagSetDefinition {
  const { features = [], segments = [] } = foldEvents(state)
  const writer = new ExpressionWriter()
  const reader = new FeatureReader(features, segments, writer)
  const flags = features.map((feature) => reader.read(feature))
  const own = segments.map(({ id, constraints }) =>
    segmentDefinition(segmentId(id), {
      rules: writer.conditionsOf({ all: constraints.map(readConstraint) }),
    }),
  )
  return flagSetDefinition(flags, [...own, ...writer.segments])
}

function segmentId(id: number): string {
  return `unleash ${id}`
}

const NO_USER = condition('userId', 'not_exists')

/** The attribute and the salt of a bucket. Contexts without the attribute are excluded. */
interface Deal {
  readonly attribute: string
  readonly salt: string
}

/** Some of the contexts that a strategy includes. */
interface Reach {
  readonly when: Expression
  readonly deal?: Deal & { readonly percentage: number }
}

/** Some of the contexts that receive variants, and the variants. */
interface Share {
  readonly when: Expression
  readonly deal?: Deal
  readonly variants: readonly Pick<Variant, 'name' | 'payload' | 'weight'>[]
}

class FeatureReader {
  readonly #features: ReadonlyMap<string, Feature>
  readonly #segments: ReadonlyMap<number, Segment>
  readonly #writer: ExpressionWriter

  constructor(
    features: readonly Feature[],
    segments: readonly Segment[],
    writer: ExpressionWriter,
  ) {
    this.#features = new Map(features.map((feature) => [feature.name, feature]))
    this.#segments = new Map(segments.map((segment) => [segment.id, segment]))
    this.#writer = writer
  }

  read(feature: Feature): FlagDefinition {
    const { name, strategies = [], dependencies = [] } = feature
    const rollouts: RolloutDefinition[] = []
    const rules: FlagDefinition['rules'][number][] = []
    for (const strategy of strategies.length === 0 ? [{ name: 'default' }] : strategies) {
      for (const reach of reachesOf(strategy)) {
        for (const share of sharesOf(feature, strategy)) {
          const rolloutId = `rollout ${rollouts.length}`
          const { rollout, variationId, extra } = serveOf(reach, share, rolloutId)
          if (rollout !== undefined) rollouts.push(rollout)
          rules.push(
            ruleDefinition({
              id: `rule ${rules.length}`,
              orderIndex: rules.length,
              conditions: this.#writer.conditionsOf({
                all: [this.#gateOf(strategy), reach.when, share.when, ...extra],
              }),
              variationId,
              rolloutId: rollout === undefined ? null : rolloutId,
            }),
          )
        }
      }
    }
    return flagDefinition(name, {
      type: 'json',
      isActive: feature.enabled && dependencies.every((each) => this.#canDependOn(each)),
      variations: answersOf(feature).map(toVariation),
      defaultVariationId: idOf(OFF),
      prerequisites: dependencies.flatMap((each) => this.#prerequisiteOf(each)),
      rules,
      rollouts,
    })
  }

  /** Translates constraints and segments. A segment that does not exist matches no context. */
  #gateOf({ constraints = [], segments = [] }: Strategy): Expression {
    const inSegments = segments.map((id): Expression => {
      const segment = this.#segments.get(id)
      if (segment === undefined) return NEVER
      return segment.constraints.length === 0 ? ALWAYS : condition('', 'in_segment', segmentId(id))
    })
    return { all: [...constraints.map(readConstraint), ...inSegments] }
  }

  /**
   * Returns `false` for a parent that has parents itself, because Unleash allows only one level.
   */
  #canDependOn({ feature }: Dependency): boolean {
    const parent = this.#features.get(feature)
    return parent !== undefined && (parent.dependencies ?? []).length === 0
  }

  #prerequisiteOf({ feature, enabled = true, variants = [] }: Dependency) {
    const parent = this.#features.get(feature)
    if (parent === undefined) return []
    const met = answersOf(parent).filter((answer) => {
      if (answer.feature_enabled !== enabled) return false
      return variants.length === 0 || variants.includes(answer.name)
    })
    return [{ flagId: flagDefinition(feature).id, variationIds: met.map(idOf) }]
  }
}

function reachesOf({ name, parameters = {} }: Strategy): readonly Reach[] {
  const percentage = Number(parameters['rollout'] ?? parameters['percentage'])
  const salt = parameters['groupId'] ?? ''
  const by = (attribute: string) => ({ attribute, salt, percentage })
  switch (name) {
    case 'default':
      return [{ when: ALWAYS }]
    case 'userWithId':
      return [{ when: condition('userId', 'in', listOf(parameters['userIds'])) }]
    case 'remoteAddress':
      return [{ when: condition('remoteAddress', 'in_cidr', listOf(parameters['IPs'])) }]
    case 'gradualRolloutUserId':
      return [{ when: ALWAYS, deal: by('userId') }]
    case 'gradualRolloutSessionId':
      return [{ when: ALWAYS, deal: by('sessionId') }]
    case 'gradualRolloutRandom':
      return byChance(percentage, ALWAYS)
    case 'flexibleRollout':
      return [
        ...stickTo(parameters['stickiness'], by),
        ...byChance(percentage, chanceAfter(parameters['stickiness'])),
      ]
    default:
      return []
  }
}

/** Translates random selection, which the engine does not have. Only 100 % includes contexts. */
function byChance(percentage: number, when: Expression): readonly Reach[] {
  return percentage === 100 ? [{ when }] : []
}

/** Returns the contexts that a strategy selects randomly. None if it has a custom stickiness. */
function chanceAfter(stickiness = 'default'): Expression {
  if (stickiness === 'random') return ALWAYS
  if (stickiness !== 'default') return NEVER
  return { all: [NO_USER, condition('sessionId', 'not_exists')] }
}

/** Returns the bucketing by a stickiness. By default, the session id replaces a missing user id. */
function stickTo<D extends Deal>(
  stickiness = 'default',
  by: (attribute: string) => D,
): readonly { readonly when: Expression; readonly deal: D }[] {
  if (stickiness === 'random') return []
  if (stickiness !== 'default') return [{ when: ALWAYS, deal: by(stickiness) }]
  return [
    { when: ALWAYS, deal: by('userId') },
    { when: NO_USER, deal: by('sessionId') },
  ]
}

/** Returns the variants of the strategy or, if it has none, those of the feature. */
function sharesOf(
  feature: Feature,
  { parameters = {}, variants = [] }: Strategy,
): readonly Share[] {
  const isOwn = variants.length > 0
  const dealt = isOwn ? variants : (feature.variants ?? [])
  const [first] = dealt
  if (first === undefined) return [{ when: ALWAYS, variants: [] }]
  const salt = isOwn ? (parameters['groupId'] ?? '') : feature.name
  const stickiness = isOwn ? parameters['stickiness'] : first.stickiness
  const overrides = dealt.flatMap((variant) => {
    return (variant.overrides ?? []).map(({ contextName, values }) => {
      return { when: condition(contextName, 'in', values), variants: [variant] }
    })
  })
  const shares = stickTo(stickiness, (attribute) => ({ attribute, salt })).map(
    ({ when, deal }) => ({ when, deal, variants: dealt }),
  )
  // Unleash serves a random variant to a context without a bucketing key. The first one is valid.
  return [...overrides, ...shares, { when: ALWAYS, variants: [first] }]
}

interface Served {
  readonly rollout?: RolloutDefinition
  readonly variationId: string | null
  readonly extra: readonly ConditionDefinition[]
}

/** A rule has one rollout. If both parts need a hash, the percentage becomes a condition. */
function serveOf({ deal }: Reach, share: Share, id: string): Served {
  const [only = undefined] = share.variants
  const variationId = idOf(only === undefined ? ON : answerOf(only))
  const common = { id, scheme: 'unleash' } as const
  const to = ((deal?.percentage ?? 0) * BUCKETS) / 100
  if (share.deal !== undefined) {
    const { attribute: bucketBy, salt } = share.deal
    const ranges = rangesOf(share.variants)
    const totalWeight = totalOf(share.variants)
    const rollout = { ...common, strategy: 'variant', bucketBy, salt, ranges, totalWeight } as const
    return { rollout, variationId: null, extra: deal === undefined ? [] : [inBucket(deal, to)] }
  }
  if (deal === undefined) return { variationId, extra: [] }
  if (only !== undefined) return { variationId, extra: [inBucket(deal, to)] }
  const { attribute: bucketBy, salt } = deal
  const ranges = [{ variationId, from: 0, to }]
  const rollout = { ...common, strategy: 'percentage', bucketBy, salt, ranges } as const
  return { rollout, variationId: null, extra: [] }
}

function inBucket({ attribute, salt }: Deal, to: number): ConditionDefinition {
  return condition(attribute, 'in_bucket', { salt, ranges: [[0, to]], scheme: 'unleash' })
}

function totalOf(variants: Share['variants']): number {
  return variants.reduce((total, { weight }) => total + weight, 0)
}

function rangesOf(variants: Share['variants']) {
  const total = totalOf(variants)
  const bucketOf = (weight: number) => Math.round((weight * BUCKETS) / total)
  let end = 0
  return variants.map((variant) => {
    const from = bucketOf(end)
    end += variant.weight
    return { variationId: idOf(answerOf(variant)), from, to: bucketOf(end) }
  })
}

function listOf(text = ''): readonly string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)
}
