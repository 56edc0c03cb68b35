import {
  type BucketRange,
  type ConditionDefinition,
  compileFlagSet,
  type EvaluationContext,
  type Extensions,
  evaluateFlag,
  type FlagDefinition,
  type FlagSet,
  type FlagSetDefinition,
  type JsonObject,
  type JsonValue,
  type RolloutDefinition,
} from '../../src/index.ts'
import { flagDefinition, flagSetDefinition, ruleDefinition } from '../definitions.ts'
import { condition, type Expression, ExpressionWriter } from './expression.ts'
import { readCondition, type SavedGroups } from './growthbook-condition.ts'
import { after, border, placesOf, type Range, rangesOf } from './growthbook-range.ts'

/** The configuration of a GrowthBook SDK. */
export interface GrowthBook {
  readonly attributes?: JsonObject
  readonly features?: Readonly<Record<string, Feature>>
  readonly forcedVariations?: Readonly<Record<string, number>>
  readonly savedGroups?: SavedGroups
}

interface Feature {
  readonly defaultValue?: JsonValue
  readonly rules?: readonly FeatureRule[]
}

interface FeatureRule {
  readonly id?: string
  readonly condition?: JsonObject
  readonly parentConditions?: readonly ParentCondition[]
  readonly force?: JsonValue
  readonly variations?: readonly JsonValue[]
  /** The variations of a bandit. Without contexts, it assigns them like an experiment. */
  readonly contextualVariations?: readonly JsonValue[]
  readonly key?: string
  readonly seed?: string
  readonly hashAttribute?: string
  readonly hashVersion?: number
  readonly coverage?: number
  readonly weights?: readonly number[]
  readonly range?: Range
  readonly ranges?: readonly Range[]
  readonly meta?: readonly { readonly passthrough?: boolean }[]
  readonly filters?: readonly Filter[]
  readonly namespace?: readonly [name: string, from: number, to: number]
}

interface ParentCondition {
  readonly id: string
  readonly condition: JsonObject
  readonly gate?: boolean
}

interface Filter {
  readonly attribute?: string
  readonly seed: string
  readonly hashVersion?: number
  readonly ranges: readonly Range[]
}

/** The source of a result, as named by GrowthBook. */
export type Source = 'defaultValue' | 'force' | 'experiment' | 'prerequisite'

/** Returns a context of the kind `user` with these attributes. */
export function toContext(attributes: JsonObject = {}): EvaluationContext {
  return { ...attributes, kind: 'user' }
}

/** Compiles a flag that is on for the contexts that a condition matches. */
export function compileCondition(expression: Expression, extensions: Extensions): FlagSet {
  const writer = new ExpressionWriter()
  const rule = ruleDefinition({ conditions: writer.conditionsOf(expression) })
  const flag = flagDefinition('condition', { rules: [rule] })
  return compileFlagSet(flagSetDefinition([flag], writer.segments), { extensions })
}

/** Returns the result of a condition that `compileCondition` compiled. */
export function conditionHolds(flagSet: FlagSet, attributes: JsonObject): boolean {
  return evaluateFlag(flagSet, 'condition', toContext(attributes), 0).value === true
}

/** Translates features. Each possible value is a variation, with its JSON text as the id. */
export function readGrowthBook(setup: GrowthBook, extensions: Extensions): FlagSetDefinition {
  const writer = new ExpressionWriter()
  const reader = new FeatureReader(setup, writer, extensions)
  const flags = Object.keys(setup.features ?? {}).map((key) => reader.read(key))
  return flagSetDefinition(flags, writer.segments)
}

/** Returns the source of a rule's results, which the id of the rule contains. */
export function sourceOf(ruleId: string): { readonly source: Source; readonly ruleId: string } {
  const [, source, ...rest] = ruleId.split(' ')
  return { source: source as Source, ruleId: rest.join(' ') }
}

interface Served {
  readonly source: Source
  readonly id?: string | undefined
  readonly when: Expression
  readonly value?: JsonValue
  readonly rollout?: RolloutDefinition
}

class FeatureReader {
  readonly #setup: GrowthBook
  readonly #writer: ExpressionWriter
  readonly #extensions: Extensions

  constructor(setup: GrowthBook, writer: ExpressionWriter, extensions: Extensions) {
    this.#setup = setup
    this.#writer = writer
    this.#extensions = extensions
  }

  /** The default is `null`, because a blocked or cyclic feature has the value `null`. */
  read(key: string): FlagDefinition {
    const { defaultValue = null, rules = [] } = this.#featureOf(key)
    const all = [
      ...rules.flatMap((rule, index) => this.#readRule(key, rule, index)),
      { source: 'defaultValue', when: { all: [] }, value: defaultValue } satisfies Served,
    ]
    return flagDefinition(key, {
      type: 'json',
      variations: this.#valuesOf(key).map((value) => {
        const text = JSON.stringify(value)
        return { id: text, key: text, value: text }
      }),
      defaultVariationId: 'null',
      rules: all.map(({ source, id = '', when, value, rollout }: Served, index) =>
        ruleDefinition({
          id: `${index} ${source} ${id}`,
          orderIndex: index,
          conditions: this.#writer.conditionsOf(when),
          variationId: value === undefined ? null : JSON.stringify(value),
          rolloutId: rollout?.id ?? null,
        }),
      ),
      rollouts: all.flatMap(({ rollout }: Served) => rollout ?? []),
    })
  }

  #featureOf(key: string): Feature {
    return this.#setup.features?.[key] ?? {}
  }

  #valuesOf(key: string): readonly JsonValue[] {
    const { defaultValue = null, rules = [] } = this.#featureOf(key)
    const forced = rules.flatMap(({ force }) => (force === undefined ? [] : [force]))
    const values = [null, defaultValue, ...forced, ...rules.flatMap(variationsOf)]
    return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
  }

  #readRule(key: string, rule: FeatureRule, index: number): readonly Served[] {
    const blocked: Served[] = []
    const when: Expression[] = []
    for (const parent of rule.parentConditions ?? []) {
      const met = this.#parentExpression(parent)
      if (parent.gate !== true) when.push(met)
      else {
        blocked.push({
          source: 'prerequisite',
          when: { all: [...when, { not: met }] },
          value: null,
        })
      }
    }
    for (const filter of rule.filters ?? []) when.push(filterExpression(filter))
    if (rule.condition !== undefined) {
      when.push(readCondition(rule.condition, this.#setup.savedGroups))
    }
    const about = { key, rule, rolloutId: `rollout ${index}`, when: { all: when } }
    return [...blocked, ...this.#readServe(about)]
  }

  /** Evaluates the condition for each value of the parent, and compares with these values. */
  #parentExpression({ id, condition: wanted }: ParentCondition): ConditionDefinition {
    const expression = readCondition(wanted, this.#setup.savedGroups)
    const compiled = compileCondition(expression, this.#extensions)
    const satisfying = this.#valuesOf(id).filter((value) => conditionHolds(compiled, { value }))
    return condition(
      id,
      'flag_is',
      satisfying.map((value) => JSON.stringify(value)),
    )
  }

  #readServe({ key, rule, rolloutId, when }: About): readonly Served[] {
    if (rule.force !== undefined) return forceOf({ key, rule, rolloutId, when }, rule.force)
    const variations = variationsOf(rule)
    if (variations.length === 0) return []
    const common = { source: 'experiment', id: rule.id } as const
    const forced = this.#setup.forcedVariations?.[rule.key ?? key]
    if (forced !== undefined) return [{ ...common, when, value: variations[forced] ?? null }]
    const inNamespace =
      rule.filters === undefined && rule.namespace !== undefined
        ? [namespaceExpression(rule.namespace, hashAttributeOf(rule))]
        : []
    const dealt = experimentOf(rule, variations)
    const rollout = rolloutOf({ key: rule.key ?? key, rule, rolloutId }, 'variant', dealt)
    return [{ ...common, when: { all: [when, ...inNamespace] }, rollout }]
  }
}

interface About {
  readonly key: string
  readonly rule: FeatureRule
  readonly rolloutId: string
  readonly when: Expression
}

function variationsOf({ variations, contextualVariations }: FeatureRule): readonly JsonValue[] {
  return variations ?? contextualVariations ?? []
}

function hashAttributeOf({ hashAttribute = 'id' }: FeatureRule): string {
  return hashAttribute
}

/** Translates a forced value for all contexts, or for those in a range or a coverage. */
function forceOf(about: About, value: JsonValue): readonly Served[] {
  const { rule, when } = about
  const common = { source: 'force', id: rule.id, when } as const
  const version = rule.hashVersion ?? 1
  if (rule.range === undefined && rule.coverage === undefined) return [{ ...common, value }]
  const places = placesOf(version)
  // A hash version that does not exist includes no context.
  if (places === undefined || (rule.range === undefined && rule.coverage === 0)) return []
  const variationId = JSON.stringify(value)
  const [from, to] = rule.range ?? [0, undefined]
  const end = to === undefined ? after(rule.coverage ?? 0, places) : border(to, places)
  const ranges = [{ variationId, from: border(from, places), to: end }]
  return [{ ...common, rollout: rolloutOf(about, 'percentage', ranges) }]
}

function rolloutOf(
  { key, rule, rolloutId }: Omit<About, 'when'>,
  strategy: 'percentage' | 'variant',
  ranges: readonly BucketRange[],
): RolloutDefinition {
  return {
    id: rolloutId,
    scheme: `growthbook-${rule.hashVersion ?? 1}`,
    strategy,
    salt: rule.seed ?? key,
    bucketBy: hashAttributeOf(rule),
    ranges,
  }
}

/** Returns the ranges of an experiment. A variation with `passthrough` has none. */
function experimentOf(rule: FeatureRule, variations: readonly JsonValue[]): readonly BucketRange[] {
  const places = placesOf(rule.hashVersion ?? 1) ?? 1
  const ranges = rule.ranges ?? rangesOf(variations.length, rule.coverage, rule.weights)
  return ranges.flatMap(([from, to], index) => {
    if (rule.meta?.[index]?.passthrough === true) return []
    const variationId = JSON.stringify(variations[index] ?? null)
    return { variationId, from: border(from, places), to: border(to, places) }
  })
}

function filterExpression({ attribute = 'id', seed, hashVersion = 2, ranges }: Filter): Expression {
  const places = placesOf(hashVersion) ?? 1
  return inBucket(attribute, {
    salt: seed,
    scheme: `growthbook-${hashVersion}`,
    ranges: ranges.map(([from, to]) => [border(from, places), border(to, places)]),
  })
}

function namespaceExpression(
  [name, from, to]: NonNullable<FeatureRule['namespace']>,
  attribute: string,
): Expression {
  const ranges = [[border(from, 1000), border(to, 1000)]]
  return inBucket(attribute, { salt: `__${name}`, scheme: 'growthbook-1', ranges })
}

function inBucket(attribute: string, value: JsonObject): Expression {
  return condition(attribute, 'in_bucket', value)
}
