import { findErrors } from '../authoring/issues.ts'
import type { CompiledFlag, CompiledPrerequisite, CompiledTarget } from '../evaluation/flag.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { type CompiledRule, matchesRule } from '../evaluation/rule.ts'
import { type CompiledSegment, matchesSegment } from '../evaluation/segment.ts'
import { findContextKey, readAttribute, readBucketingKey, toKeyText } from '../model/attribute.ts'
import { type EvaluationContext, isEmptyContext } from '../model/context.ts'
import { type Incremental, runToEnd } from '../model/incremental.ts'
import { isJsonObject } from '../model/json.ts'
import { clip, jsonExcerpt, quote, textOf } from '../model/quote.ts'
import {
  type CompiledCondition,
  type ConditionScope,
  matchesCondition,
} from '../operators/condition.ts'
import { type CompiledRollout, placeIn } from '../rollouts/rollout.ts'
import { Details } from './evaluate-detail.ts'
import {
  answerStep,
  EMPTY_CONTEXT,
  type ExplanationStep,
  type FlagExplanation,
  flagStep,
  stepOutcome,
  UNKNOWN_FLAG,
  variationKeyOf,
} from './explanation.ts'

/** Evaluates one flag at `now` (epoch milliseconds) and tells how it came to its answer. Never throws. */
export function explainFlag(
  flagSet: FlagSet,
  flagKey: string,
  context: EvaluationContext,
  now: number,
): FlagExplanation {
  return runToEnd(explainIncrementally(flagSet, flagKey, context, now))
}

/**
 * Explains as `explainFlag` does, incrementally: a server can do other work between two chunks. The
 * chunks are short once `prepareExplanations` has run.
 */
export function* explainIncrementally(
  flagSet: FlagSet,
  flagKey: string,
  context: EvaluationContext,
  now: number,
): Incremental<FlagExplanation> {
  const details = new Details(flagSet, context, now)
  const detail = details.of(flagKey)
  const explainer = new Explainer({ flagSet, context, now, details })
  const flag = flagSet.flags.get(flagKey)
  yield
  const steps = flag === undefined ? [UNKNOWN_FLAG] : yield* explainer.stepsOf(flag)
  return {
    detail,
    prerequisiteChain: details.chainFrom(detail),
    attributesRead: details.attributesReadBy(flag),
    steps: [...steps, answerStep(detail)],
  }
}

/** The most faults of a flag that a step repeats. */
const MAX_ISSUES = 5

interface ExplainerOptions {
  readonly flagSet: FlagSet
  readonly context: EvaluationContext
  readonly now: number
  readonly details: Details
}

/** Takes the same steps as the evaluator, with the same parts, and keeps a log of them. */
class Explainer implements ConditionScope {
  readonly context: EvaluationContext
  readonly #flagSet: FlagSet
  readonly #now: number
  readonly #details: Details
  readonly #segments = new Map<string, boolean>()

  constructor({ flagSet, context, now, details }: ExplainerOptions) {
    this.context = context ?? {}
    this.#flagSet = flagSet
    this.#now = now
    this.#details = details
  }

  servedVariation(flagKey: string): string | undefined {
    return this.#details.of(flagKey).variationKey ?? undefined
  }

  isInSegment(segmentId: string): boolean {
    const known = this.#segments.get(segmentId)
    if (known !== undefined) return known
    const segment = this.#flagSet.segments.get(segmentId)
    const isIn = segment !== undefined && matchesSegment(segment, this)
    this.#segments.set(segmentId, isIn)
    return isIn
  }

  *stepsOf(flag: CompiledFlag): Incremental<ExplanationStep[]> {
    if (!flag.definition.isActive) return [flagStep('not_held', 'The flag is inactive.')]
    if (this.#flagSet.malformed.has(flag.key)) {
      return [flagStep('not_held', this.#whyMalformed(flag))]
    }
    const steps = [flagStep('held', 'The flag is active.')]
    const isMet = ({ outcome }: ExplanationStep) => outcome === 'held'
    const prerequisiteStep = (each: CompiledPrerequisite) => this.#prerequisiteStep(each)
    if (!(yield* takeWhile(flag.prerequisites, prerequisiteStep, isMet, steps))) return steps
    if (isEmptyContext(this.context)) return [...steps, EMPTY_CONTEXT]
    const isPassed = ({ outcome }: ExplanationStep) => outcome !== 'held'
    const targetStep = (each: CompiledTarget) => this.#targetStep(flag, each)
    if (yield* takeWhile(flag.targets, targetStep, isPassed, steps)) {
      yield* takeWhile(flag.rules, (each) => this.#ruleStep(flag, each), isPassed, steps)
    }
    return steps
  }

  #whyMalformed({ key }: CompiledFlag): string {
    const issues = findErrors(this.#flagSet).filter(({ flagKey }) => flagKey === key)
    const messages = issues.slice(0, MAX_ISSUES).map(({ message }) => clip(message))
    return ['Something that the flag depends on cannot be resolved.', ...messages].join(' ')
  }

  #prerequisiteStep({ flagId, variationIds }: CompiledPrerequisite): ExplanationStep {
    const flag = this.#flagSet.flagsById.get(flagId)
    if (flag === undefined) {
      return { type: 'prerequisite', outcome: 'not_held', text: 'The other flag does not exist.' }
    }
    const { variationId, variationKey, reason } = this.#details.of(flag.key)
    const isMet = variationId !== null && variationIds.has(variationId)
    const served = variationKey === null ? 'nothing' : quote(variationKey)
    const text = `The prerequisite ${quote(flag.key)} serves ${served} (${reason}): ${isMet ? 'met' : 'not met'}.`
    return {
      type: 'prerequisite',
      outcome: stepOutcome(isMet),
      text,
      flagKey: flag.key,
      variationKey,
    }
  }

  #targetStep(flag: CompiledFlag, { kind, keys, variationId }: CompiledTarget): ExplanationStep {
    const key = findContextKey(this.context, kind)
    const isListed = key !== undefined && keys.has(key)
    const name = `The target for ${quote(variationKeyOf(flag, variationId))}`
    const text =
      key === undefined
        ? `${name} is about the kind ${quote(kind)}, of which the context has no key.`
        : `${name} ${isListed ? 'lists' : 'does not list'} the ${clip(kind)} ${quote(key)}.`
    return { type: 'target', outcome: stepOutcome(isListed), text }
  }

  #ruleStep(flag: CompiledFlag, rule: CompiledRule): ExplanationStep {
    const { id: ruleId, segmentId, conditions } = rule.definition
    const steps = rule.conditions.map((each, index) => this.#conditionStep(each, conditions[index]))
    if (segmentId !== null) steps.push(this.#segmentStep(segmentId))
    if (!matchesRule(rule, this)) {
      return { type: 'rule', outcome: 'not_held', ruleId, text: 'The rule does not match.', steps }
    }
    switch (rule.serve.kind) {
      case 'variation': {
        const text = `The rule matches: ${quote(variationKeyOf(flag, rule.serve.variationId))}.`
        return { type: 'rule', outcome: 'held', ruleId, text, steps }
      }
      case 'broken': {
        const text = 'The rule matches, but its rollout cannot be followed.'
        return { type: 'rule', outcome: 'held', ruleId, text, steps }
      }
      case 'nothing': {
        const text = 'The rule matches, but has nothing to serve.'
        return { type: 'rule', outcome: 'skipped', ruleId, text, steps }
      }
      case 'rollout': {
        const rollout = this.#rolloutStep(flag, rule.serve.rollout)
        const { outcome } = rollout
        const result = outcome === 'held' ? 'its rollout serves' : 'its rollout does not serve'
        const text = `The rule matches, and ${result} this context.`
        return { type: 'rule', outcome, ruleId, text, steps: [...steps, rollout] }
      }
    }
  }

  #conditionStep(condition: CompiledCondition, definition: unknown): ExplanationStep {
    const written = isJsonObject(definition) ? definition : {}
    const [attribute = '', operator = '', value = ''] = ['attribute', 'operator', 'value'].map(
      (name) => clip(textOf(written[name])),
    )
    const isHeld = matchesCondition(condition, this)
    const asked = this.#foundBy(condition)
    const not = condition.isNegated ? 'not ' : ''
    const claim = `${not}${[attribute, operator].filter(Boolean).join(' ')} ${quote(value)}`
    const text = `${claim}: ${isHeld ? 'holds' : 'does not hold'}; ${asked.text}.`
    const step = { attribute, operator, value, ...asked.fields }
    return { type: 'condition', outcome: stepOutcome(isHeld), ...step, text }
  }

  /** What the context, or another flag, has to say to a condition. */
  #foundBy({ test, reference, isKey, flagKey, segmentIds }: CompiledCondition) {
    if (test === undefined) return { text: 'it cannot be read', fields: {} }
    if (flagKey !== undefined) {
      const variationKey = this.servedVariation(flagKey) ?? null
      const served = variationKey === null ? 'nothing' : quote(variationKey)
      const text = `the flag ${quote(flagKey)} serves ${served}`
      return { text, fields: { flagKey, variationKey } }
    }
    if (reference === undefined) {
      const isIn = segmentIds.some((id) => this.isInSegment(id))
      return { text: `the context is in ${isIn ? 'one' : 'none'} of these segments`, fields: {} }
    }
    const attribute = (isKey ? readBucketingKey : readAttribute)(this.context, reference)
    const found = attribute === undefined ? null : jsonExcerpt(attribute)
    return { text: found === null ? 'it is missing' : `it is ${found}`, fields: { found } }
  }

  #segmentStep(segmentId: string): ExplanationStep {
    const segment = this.#flagSet.segments.get(segmentId)
    const outcome = stepOutcome(this.isInSegment(segmentId))
    if (segment === undefined) {
      return { type: 'segment', outcome, segmentId, text: 'The segment does not exist.' }
    }
    const { key, rules } = segment.definition
    const steps = segment.conditions.map((each, index) => this.#conditionStep(each, rules[index]))
    const result = outcome === 'held' ? 'is in' : 'is not in'
    const text = `The context ${result} the segment ${quote(key)}: ${this.#whyInSegment(segment)}.`
    return { type: 'segment', outcome, segmentId, text, steps }
  }

  #whyInSegment({ keyAttribute, included, excluded, definition }: CompiledSegment): string {
    const key = toKeyText(readAttribute(this.context, keyAttribute))
    if (key !== undefined && excluded.has(key)) return `${quote(key)} is excluded`
    if (key !== undefined && included.has(key)) return `${quote(key)} is included`
    if (definition.force) return 'everybody is'
    if (definition.rules.length === 0) return 'it has no conditions'
    return `conditions joined by ${textOf(definition.logicalOp)}`
  }

  #rolloutStep(flag: CompiledFlag, rollout: CompiledRollout): ExplanationStep {
    const attribute = rollout.bucketBy.name
    const about = { type: 'rollout', rolloutId: rollout.id, attribute } as const
    const key = readBucketingKey(this.context, rollout.bucketBy)
    const placement = placeIn(rollout, this.context, this.#now)
    if (key === undefined || placement === undefined) {
      const text = `The context has no ${clip(attribute)} to be placed by (TARGETING_KEY_MISSING).`
      return { ...about, outcome: 'skipped', found: null, text }
    }
    const { bucket, range } = placement
    const place = `${clip(attribute)} ${quote(key)} is in bucket ${bucket}`
    const placed = { ...about, found: jsonExcerpt(key), bucket }
    if (range === undefined) {
      return { ...placed, outcome: 'skipped', text: `${place}, which belongs to no variation.` }
    }
    const { variationId, from, to } = range
    const variationKey = variationKeyOf(flag, variationId)
    const text = `${place}, which lies in ${from}…${to} of ${quote(variationKey)}.`
    return { ...placed, outcome: 'held', range: { from, to }, variationKey, text }
  }
}

/** Logs a step for each, up to and with the first that ends it; false when one did. */
function* takeWhile<T>(
  all: readonly T[],
  stepOf: (each: T) => ExplanationStep,
  goesOn: (step: ExplanationStep) => boolean,
  log: ExplanationStep[],
): Incremental<boolean> {
  for (const each of all) {
    const step = stepOf(each)
    log.push(step)
    if (!goesOn(step)) return false
    yield
  }
  return true
}
