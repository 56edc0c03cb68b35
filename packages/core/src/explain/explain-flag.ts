import { findErrors } from '../authoring/issues.ts'
import { Evaluator } from '../evaluation/evaluator.ts'
import type { CompiledFlag } from '../evaluation/flag.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import type { Serve } from '../evaluation/rule.ts'
import { type CompiledSegment, listWithKeyOf } from '../evaluation/segment.ts'
import type {
  EvaluationStep,
  PrerequisiteStep,
  RolloutStep,
  RuleStep,
  TargetStep,
} from '../evaluation/trace.ts'
import { readAttribute, readBucketingKey, toKeyText } from '../model/attribute.ts'
import type { EvaluationContext } from '../model/context.ts'
import { type Incremental, runToEnd } from '../model/incremental.ts'
import { containsInexact, isJsonObject } from '../model/json.ts'
import { clip, jsonExcerpt, quote, textOf } from '../model/quote.ts'
import { type CompiledCondition, matchesCondition } from '../operators/condition.ts'
import { TracedEvaluation } from './evaluate-detail.ts'
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

/**
 * Evaluates one flag at `now` (epoch milliseconds) and returns its detail with all steps of the
 * evaluation. Never throws.
 */
export function explainFlag(
  flagSet: FlagSet,
  flagKey: string,
  context: EvaluationContext,
  now: number,
): FlagExplanation {
  return runToEnd(explainIncrementally(flagSet, flagKey, context, now))
}

/**
 * Returns the same explanation as `explainFlag`, and yields before each step, so that a server can
 * do other work meanwhile. Run `prepareExplanations` before this generator, so that no step takes
 * long.
 */
export function* explainIncrementally(
  flagSet: FlagSet,
  flagKey: string,
  context: EvaluationContext,
  now: number,
): Incremental<FlagExplanation> {
  const evaluator = new Evaluator(flagSet, context, now)
  const evaluation = new TracedEvaluation(flagSet, flagKey, evaluator)
  const flag = flagSet.flags.get(flagKey)
  const explainer = flag && new Explainer(flagSet, flag, evaluator)
  const steps = explainer === undefined ? [UNKNOWN_FLAG] : []
  for (const step of evaluation.steps) {
    yield
    if (explainer !== undefined) steps.push(explainer.explain(step))
  }
  const { detail, prerequisiteChain, attributesRead } = evaluation
  return { detail, prerequisiteChain, attributesRead, steps: [...steps, answerStep(detail)] }
}

/** The maximum number of faults of a flag in the text of a step. */
const MAX_ISSUES = 5

/** Explains the steps of the evaluation of a flag. */
class Explainer {
  readonly #flagSet: FlagSet
  readonly #flag: CompiledFlag
  readonly #evaluator: Evaluator

  constructor(flagSet: FlagSet, flag: CompiledFlag, evaluator: Evaluator) {
    this.#flagSet = flagSet
    this.#flag = flag
    this.#evaluator = evaluator
  }

  explain(step: EvaluationStep): ExplanationStep {
    switch (step.kind) {
      case 'flag':
        return this.#flagStep(step.state)
      case 'prerequisite':
        return prerequisiteStep(step)
      case 'empty context':
        return EMPTY_CONTEXT
      case 'target':
        return this.#targetStep(step)
      case 'rule':
        return this.#ruleStep(step)
    }
  }

  #flagStep(state: 'active' | 'inactive' | 'malformed'): ExplanationStep {
    if (state === 'malformed') return flagStep('not_held', this.#whyMalformed(this.#flag))
    return flagStep(stepOutcome(state === 'active'), `The flag is ${state}.`)
  }

  #whyMalformed({ key }: CompiledFlag): string {
    const issues = findErrors(this.#flagSet).filter(({ flagKey }) => flagKey === key)
    const messages = issues.slice(0, MAX_ISSUES).map(({ message }) => clip(message))
    return ['A dependency of the flag cannot be resolved.', ...messages].join(' ')
  }

  #targetStep({ target: { kind, variationId }, key, isMatch }: TargetStep): ExplanationStep {
    const name = `The target for ${quote(variationKeyOf(this.#flag, variationId))}`
    const text =
      key === undefined
        ? `${name} applies to the kind ${quote(kind)}, for which the context has no key.`
        : `${name} ${isMatch ? 'lists' : 'does not list'} the ${clip(kind)} ${quote(key)}.`
    return { type: 'target', outcome: stepOutcome(isMatch), text }
  }

  #ruleStep({ rule, isMatch, rollout }: RuleStep): ExplanationStep {
    const { id: ruleId, segmentId, conditions } = rule.definition
    const steps = rule.conditions.map((each, index) => this.#conditionStep(each, conditions[index]))
    if (segmentId !== null) steps.push(this.#segmentStep(segmentId))
    const placed = rollout && this.#rolloutStep(rollout)
    if (placed !== undefined) steps.push(placed)
    const { outcome, text } = isMatch ? this.#served(rule.serve, placed) : NO_MATCH
    return { type: 'rule', outcome, ruleId, text, steps }
  }

  /** Describes the result of a rule that matches. `placed` is the step of its rollout. */
  #served(serve: Serve, placed: ExplanationStep | undefined): Result {
    switch (serve.kind) {
      case 'variation': {
        const variation = quote(variationKeyOf(this.#flag, serve.variationId))
        return { outcome: 'held', text: `The rule matches: ${variation}.` }
      }
      case 'broken':
        return { outcome: 'held', text: 'The rule matches, but its rollout is missing or invalid.' }
      case 'nothing':
        return { outcome: 'skipped', text: 'The rule matches, but it has no variation to serve.' }
      case 'rollout': {
        const { outcome = 'skipped' } = placed ?? {}
        const result = outcome === 'held' ? 'serves' : 'does not serve'
        return { outcome, text: `The rule matches, and its rollout ${result} this context.` }
      }
    }
  }

  #conditionStep(condition: CompiledCondition, definition: unknown): ExplanationStep {
    const written = isJsonObject(definition) ? definition : {}
    const [attribute = '', operator = '', value = ''] = ['attribute', 'operator', 'value'].map(
      (name) => clip(textOf(written[name])),
    )
    const isHeld = matchesCondition(condition, this.#evaluator)
    const found = this.#foundBy(condition)
    const not = condition.isNegated ? 'not ' : ''
    const claim = `${not}${[attribute, operator].filter(Boolean).join(' ')} ${quote(value)}`
    const text = `${claim}: ${isHeld ? 'holds' : 'does not hold'}; ${found.text}.`
    const step = { attribute, operator, value, ...found.fields }
    return { type: 'condition', outcome: stepOutcome(isHeld), ...step, text }
  }

  /** Describes the value that a condition reads: an attribute, a segment or another flag. */
  #foundBy({ test, reference, isKey, flagKey, segmentIds }: CompiledCondition) {
    if (test === undefined) return { text: 'the condition is invalid', fields: {} }
    if (flagKey !== undefined) {
      const variationKey = this.#evaluator.servedVariation(flagKey) ?? null
      const served = variationKey === null ? 'nothing' : quote(variationKey)
      const text = `the flag ${quote(flagKey)} serves ${served}`
      return { text, fields: { flagKey, variationKey } }
    }
    if (reference === undefined) {
      const isIn = segmentIds.some((id) => this.#evaluator.isInSegment(id))
      return { text: `the context is in ${isIn ? 'one' : 'none'} of these segments`, fields: {} }
    }
    const attribute = (isKey ? readBucketingKey : readAttribute)(this.#evaluator.context, reference)
    if (attribute === undefined) return { text: 'it is missing', fields: { found: null } }
    const found = jsonExcerpt(attribute)
    return containsInexact(attribute)
      ? { text: `it is ${found}, ${WHY_UNEQUAL}`, fields: { found, isInexact: true as const } }
      : { text: `it is ${found}`, fields: { found } }
  }

  #segmentStep(segmentId: string): ExplanationStep {
    const segment = this.#flagSet.segments.get(segmentId)
    const outcome = stepOutcome(this.#evaluator.isInSegment(segmentId))
    if (segment === undefined) {
      return { type: 'segment', outcome, segmentId, text: 'The segment does not exist.' }
    }
    const { key, rules } = segment.definition
    const steps = segment.conditions.map((each, index) => this.#conditionStep(each, rules[index]))
    const result = outcome === 'held' ? 'is in' : 'is not in'
    const text = `The context ${result} the segment ${quote(key)}: ${this.#whyInSegment(segment)}.`
    return { type: 'segment', outcome, segmentId, text, steps }
  }

  #whyInSegment(segment: CompiledSegment): string {
    const { context } = this.#evaluator
    const { force, rules, logicalOp } = segment.definition
    const list = listWithKeyOf(segment, this.#evaluator)
    if (list !== undefined) {
      return `${quote(toKeyText(readAttribute(context, segment.keyAttribute)))} is ${list}`
    }
    if (force) return 'it includes every context'
    return rules.length === 0 ? 'it has no conditions' : `conditions joined by ${textOf(logicalOp)}`
  }

  #rolloutStep({ rollout, placement }: RolloutStep): ExplanationStep {
    const attribute = rollout.bucketBy.name
    const about = { type: 'rollout', rolloutId: rollout.id, attribute } as const
    const key = readBucketingKey(this.#evaluator.context, rollout.bucketBy)
    if (key === undefined || placement === undefined) {
      const text = `The context has no bucketing key ${clip(attribute)} (TARGETING_KEY_MISSING).`
      return { ...about, outcome: 'skipped', found: null, text }
    }
    const { bucket, range } = placement
    const place = `${clip(attribute)} ${quote(key)} is in bucket ${bucket}`
    const placed = { ...about, found: jsonExcerpt(key), bucket }
    if (range === undefined) {
      return { ...placed, outcome: 'skipped', text: `${place}, which has no variation.` }
    }
    const { variationId, from, to } = range
    const variationKey = variationKeyOf(this.#flag, variationId)
    const text = `${place}, which lies in ${from}…${to} of ${quote(variationKey)}.`
    return { ...placed, outcome: 'held', range: { from, to }, variationKey, text }
  }
}

type Result = Pick<ExplanationStep, 'outcome' | 'text'>

const WHY_UNEQUAL = 'but an integer of 2^53 or more is not exact and equals nothing'

const NO_MATCH: Result = { outcome: 'not_held', text: 'The rule does not match.' }

function prerequisiteStep({ flag, outcome, isMet }: PrerequisiteStep): ExplanationStep {
  if (flag === undefined || outcome === undefined) {
    const text = 'The flag of the prerequisite does not exist.'
    return { type: 'prerequisite', outcome: 'not_held', text }
  }
  const variationKey = outcome.variation?.key ?? null
  const served = variationKey === null ? 'nothing' : quote(variationKey)
  const { reason } = outcome.explanation
  const text = `The prerequisite ${quote(flag.key)} serves ${served} (${reason}): ${isMet ? 'met' : 'not met'}.`
  return {
    type: 'prerequisite',
    outcome: stepOutcome(isMet),
    text,
    flagKey: flag.key,
    variationKey,
  }
}
