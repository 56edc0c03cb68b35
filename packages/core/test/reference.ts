import { rangesAt } from '../src/authoring.ts'
import {
  type BucketRange,
  bucketOf,
  type ConditionDefinition,
  type EvaluationContext,
  type EvaluationReason,
  type FlagDefinition,
  type FlagSetDefinition,
  type FlagValue,
  findAttribute,
  findBucketingKey,
  parseFlagValue,
  type RolloutDefinition,
  type RuleDefinition,
  type SegmentDefinition,
} from '../src/index.ts'
import { compareCodePoints } from '../src/model/code-point.ts'
import { compileCondition, matchesCondition } from '../src/operators/condition.ts'

/** The result of a flag. */
export interface ReferenceAnswer {
  readonly value: FlagValue
  readonly variationId: string | null
  readonly reason: EvaluationReason
}

const DEEPEST = 64

/**
 * Returns the results of all flags by a second, simple implementation of the evaluation rules. It
 * compiles nothing, and caches only the results of flags, because long chains of flags would take
 * too long otherwise. The definition must have the declared type and use the built-in bucketing
 * scheme.
 */
export function referenceAnswers(
  definition: FlagSetDefinition,
  context: EvaluationContext,
  now: number,
): ReadonlyMap<string, ReferenceAnswer> {
  const reference = new Reference(definition, context, now)
  return new Map(definition.flags.map((flag) => [flag.key, reference.answer(flag)]))
}

class Reference {
  readonly #definition: FlagSetDefinition
  readonly #context: EvaluationContext
  readonly #now: number
  readonly #answers = new Map<FlagDefinition, ReferenceAnswer>()
  readonly #depths = new Map<FlagDefinition | SegmentDefinition, number>()

  constructor(definition: FlagSetDefinition, context: EvaluationContext, now: number) {
    this.#definition = definition
    this.#context = context
    this.#now = now
  }

  answer(flag: FlagDefinition): ReferenceAnswer {
    const cached = this.#answers.get(flag)
    if (cached !== undefined) return cached
    const answer = this.#answer(flag)
    this.#answers.set(flag, answer)
    return answer
  }

  #answer(flag: FlagDefinition): ReferenceAnswer {
    const off = flag.offVariationId ?? flag.defaultVariationId
    if (!flag.isActive) return serve(flag, off, 'DISABLED')
    if (this.#depthOf(flag) > DEEPEST) return broken(flag)
    for (const { flagId, variationIds } of flag.prerequisites) {
      const prerequisite = this.#definition.flags.find(({ id }) => id === flagId)
      const served = prerequisite === undefined ? null : this.answer(prerequisite).variationId
      if (served === null || !variationIds.includes(served)) return serve(flag, off, 'DEFAULT')
    }
    if (Object.keys(this.#context).length > 0) {
      const served = this.#target(flag) ?? this.#rules(flag)
      if (served !== undefined) return served
    }
    const isStatic = [flag.targets, flag.prerequisites, flag.rules].every((all) => all.length === 0)
    return serve(flag, flag.defaultVariationId, isStatic ? 'STATIC' : 'DEFAULT')
  }

  #target(flag: FlagDefinition): ReferenceAnswer | undefined {
    const { kind } = this.#context
    for (const target of flag.targets) {
      const part = kind === 'multi' ? this.#context[target.kind] : this.#context
      const isKind = kind === 'multi' || kind === target.kind
      const key = (part as Record<string, unknown> | undefined)?.['key']
      if (isKind && key !== '' && target.keys.some((each) => each === String(key))) {
        return serve(flag, target.variationId, 'TARGETING_MATCH')
      }
    }
    return undefined
  }

  #rules(flag: FlagDefinition): ReferenceAnswer | undefined {
    const rules = [...flag.rules].sort((a, b) => {
      const byTime = compareCodePoints(a.createdAt, b.createdAt)
      return a.orderIndex - b.orderIndex || byTime || compareCodePoints(a.id, b.id)
    })
    for (const rule of rules) {
      const served = this.#matches(rule) ? this.#serveRule(flag, rule) : undefined
      if (served !== undefined) return served
    }
    return undefined
  }

  #matches({ conditions, segmentId }: RuleDefinition): boolean {
    const isIn = segmentId === null || this.#isInSegment(segmentId)
    return isIn && conditions.every((condition) => this.#holds(condition))
  }

  #serveRule(flag: FlagDefinition, rule: RuleDefinition): ReferenceAnswer | undefined {
    if (rule.rolloutId === null) {
      if (rule.variationId === null) return undefined
      return serve(flag, rule.variationId, 'TARGETING_MATCH')
    }
    // If two rollouts have the same id, the last one is used.
    const rollout = flag.rollouts.findLast(({ id }) => id === rule.rolloutId)
    if (rollout === undefined || !isSound(rollout)) return broken(flag)
    const key = findBucketingKey(this.#context, rollout.bucketBy)
    if (key === undefined) return undefined
    const bucket = bucketOf(rollout.salt, key)
    const range = rangesAt(rollout, this.#now).find(({ from, to }) => from <= bucket && bucket < to)
    return range === undefined ? undefined : serve(flag, range.variationId, 'SPLIT')
  }

  #holds(condition: ConditionDefinition): boolean {
    return matchesCondition(compileCondition(condition), {
      context: this.#context,
      isInSegment: (id) => this.#isInSegment(id),
      servedVariation: (key) => this.#servedVariation(key),
    })
  }

  #servedVariation(key: string): string | undefined {
    const flag = this.#definition.flags.find((each) => each.key === key)
    if (flag === undefined) return undefined
    const { variationId } = this.answer(flag)
    return flag.variations.find(({ id }) => id === variationId)?.key
  }

  #isInSegment(id: string): boolean {
    const segment = this.#definition.segments.find((each) => each.id === id)
    if (segment === undefined || Object.keys(this.#context).length === 0) return false
    const key = keyText(findAttribute(this.#context, segment.keyAttribute))
    if (key !== undefined && segment.excluded.includes(key)) return false
    if (key !== undefined && segment.included.includes(key)) return true
    if (segment.force) return true
    const { rules, logicalOp } = segment
    if (rules.length === 0) return false
    const held = rules.filter((rule) => this.#holds(rule)).length
    if (logicalOp === 'AND') return held === rules.length
    return logicalOp === 'OR' ? held > 0 : held === 0
  }

  /** Returns the length of the longest chain of dependencies, or infinity for a cycle. */
  #depthOf(part: FlagDefinition | SegmentDefinition | undefined): number {
    if (part === undefined) return Number.POSITIVE_INFINITY
    const known = this.#depths.get(part)
    if (known !== undefined) return known
    // If this part is found again below itself, there is a cycle.
    this.#depths.set(part, Number.POSITIVE_INFINITY)
    const dependencies =
      'variations' in part ? this.#dependenciesOf(part) : this.#conditionDependencies(part.rules)
    const depth = 1 + Math.max(0, ...dependencies.map((dependency) => this.#depthOf(dependency)))
    this.#depths.set(part, depth)
    return depth
  }

  #dependenciesOf(flag: FlagDefinition): (FlagDefinition | SegmentDefinition | undefined)[] {
    if (!flag.isActive) return []
    return [
      ...flag.prerequisites.map(({ flagId }) => {
        return this.#definition.flags.find(({ id }) => id === flagId)
      }),
      ...flag.rules.flatMap(({ segmentId, conditions }) => [
        ...(segmentId === null ? [] : [this.#segment(segmentId)]),
        ...this.#conditionDependencies(conditions),
      ]),
    ]
  }

  #conditionDependencies(
    conditions: readonly ConditionDefinition[],
  ): (FlagDefinition | SegmentDefinition | undefined)[] {
    return conditions.flatMap((condition) => {
      const { segmentIds, flagKey } = compileCondition(condition)
      const flag = this.#definition.flags.find(({ key }) => key === flagKey)
      return [...segmentIds.map((id) => this.#segment(id)), ...(flag === undefined ? [] : [flag])]
    })
  }

  #segment(id: string): SegmentDefinition | undefined {
    return this.#definition.segments.find((each) => each.id === id)
  }
}

function serve(
  flag: FlagDefinition,
  variationId: string,
  reason: EvaluationReason,
): ReferenceAnswer {
  const value = servedValue(flag, variationId)
  return value === undefined ? broken(flag) : { value, variationId, reason }
}

function broken(flag: FlagDefinition): ReferenceAnswer {
  const value = servedValue(flag, flag.defaultVariationId)
  const variationId = value === undefined ? null : flag.defaultVariationId
  return { value: value ?? null, variationId, reason: 'ERROR' }
}

function servedValue(flag: FlagDefinition, variationId: string): FlagValue | undefined {
  const variation = flag.variations.find(({ id }) => id === variationId)
  if (variation === undefined) return undefined
  try {
    return parseFlagValue(flag.type, variation.value)
  } catch {
    return undefined
  }
}

function isSound(rollout: RolloutDefinition): boolean {
  if (rollout.scheme !== 'ff') return false
  if (rollout.strategy === 'gradual') return rollout.increment > 0 && rollout.startAt.endsWith('Z')
  const used = rollout.ranges.filter(({ from, to }) => from !== to)
  return used.every((range) => used.every((other) => range === other || isApart(range, other)))
}

function isApart(left: BucketRange, right: BucketRange): boolean {
  return left.to <= right.from || right.to <= left.from
}

function keyText(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}
