import { Evaluator } from '../evaluation/evaluator.ts'
import type { CompiledFlag, CompiledPrerequisite } from '../evaluation/flag.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import type { Outcome } from '../evaluation/outcome.ts'
import type { CompiledRule } from '../evaluation/rule.ts'
import { listWithKeyOf } from '../evaluation/segment.ts'
import { findContextKey } from '../model/attribute.ts'
import { type EvaluationContext, isEmptyContext } from '../model/context.ts'
import { type CompiledCondition, matchesCondition } from '../operators/condition.ts'

/**
 * A truth value, or the unknown attributes on which it depends. The list is never empty.
 */
type Verdict = boolean | readonly string[]

interface ContextEvaluationOptions {
  /** Epoch milliseconds. */
  readonly now: number
  /**
   * Returns `true` if the context has the real value of the attribute with this reference. By
   * default, all attributes are known.
   */
  readonly isKnown?: (reference: string) => boolean
}

const NONE: readonly string[] = []

/** The evaluation of several flags of a flag set for one context at one point in time. */
export class ContextEvaluation {
  readonly #flagSet: FlagSet
  readonly #evaluator: Evaluator
  readonly #context: EvaluationContext
  readonly #isKnown: (reference: string) => boolean
  readonly #flags = new Map<CompiledFlag, readonly string[]>()
  readonly #segments = new Map<string, Verdict>()

  constructor(
    flagSet: FlagSet,
    context: EvaluationContext,
    { now, isKnown = () => true }: ContextEvaluationOptions,
  ) {
    this.#flagSet = flagSet
    this.#context = context
    this.#evaluator = new Evaluator(flagSet, context, now)
    this.#isKnown = isKnown
  }

  /** Returns the outcome of a flag of the flag set. */
  outcomeOf(flag: CompiledFlag): Outcome {
    return this.#evaluator.evaluate(flag)
  }

  /**
   * Returns the references of the unknown attributes on which the outcome of a flag depends. The
   * list is empty if the outcome is the same for all values of the unknown attributes.
   */
  unknownReads(flag: CompiledFlag): readonly string[] {
    const known = this.#flags.get(flag)
    if (known !== undefined) return known
    const found = [...new Set(this.#readsOf(flag))]
    this.#flags.set(flag, found)
    return found
  }

  /** The order of the checks is that of `Evaluator.evaluate`. */
  #readsOf(flag: CompiledFlag): readonly string[] {
    if (!flag.isActive || this.#flagSet.malformed.has(flag.key)) return NONE
    const prerequisites = all(flag.prerequisites.map((each) => this.#prerequisite(each)))
    if (typeof prerequisites !== 'boolean') return prerequisites
    if (!prerequisites || isEmptyContext(this.#context) || this.#isTarget(flag)) return NONE
    for (const rule of flag.rules) {
      const match = this.#rule(rule)
      if (match === false) continue
      if (match !== true) return match
      const { serve } = rule
      const key = serve.kind === 'rollout' ? serve.rollout.bucketBy.name : undefined
      if (key !== undefined && !this.#isKnown(key)) return [key]
      if (this.#evaluator.follow(rule.serve) !== undefined) return NONE
    }
    return NONE
  }

  #prerequisite({ flagId, variationIds }: CompiledPrerequisite): Verdict {
    const flag = this.#flagSet.flagsById.get(flagId)
    if (flag === undefined) return false
    const unknown = this.unknownReads(flag)
    if (unknown.length > 0) return unknown
    const { variation } = this.outcomeOf(flag)
    return variation !== undefined && variationIds.has(variation.id)
  }

  #isTarget({ targets }: CompiledFlag): boolean {
    return targets.some(({ kind, keys }) => {
      const key = findContextKey(this.#context, kind)
      return key !== undefined && keys.has(key)
    })
  }

  #rule({ conditions, definition }: CompiledRule): Verdict {
    const { segmentId } = definition
    const own = conditions.map((condition) => this.#condition(condition))
    return all(segmentId === null ? own : [...own, this.#segment(segmentId)])
  }

  #condition(condition: CompiledCondition): Verdict {
    const { test, reference, flagKey, segmentIds } = condition
    if (test === undefined) return false
    if (reference !== undefined && !this.#isKnown(reference.name)) return [reference.name]
    const flag = flagKey === undefined ? undefined : this.#flagSet.flagsByKey.get(flagKey)
    const unknown = flag === undefined ? [] : this.unknownReads(flag)
    if (unknown.length > 0) return unknown
    const isIn = any(segmentIds.map((id) => this.#segment(id)))
    return typeof isIn === 'boolean' ? matchesCondition(condition, this.#evaluator) : isIn
  }

  #segment(id: string): Verdict {
    const known = this.#segments.get(id)
    if (known !== undefined) return known
    const verdict = this.#segmentVerdict(id)
    this.#segments.set(id, verdict)
    return verdict
  }

  #segmentVerdict(id: string): Verdict {
    const segment = this.#flagSet.segments.get(id)
    if (segment === undefined || isEmptyContext(this.#context)) return false
    const { included, excluded, keyAttribute, conditions, definition } = segment
    const isListed = included.size > 0 || excluded.size > 0
    if (isListed && !this.#isKnown(keyAttribute.name)) return [keyAttribute.name]
    const list = listWithKeyOf(segment, this.#evaluator)
    if (list !== undefined) return list === 'included'
    if (definition.force) return true
    if (conditions.length === 0) return false
    const verdicts = conditions.map((condition) => this.#condition(condition))
    return BY_OPERATOR[definition.logicalOp]?.(verdicts) ?? false
  }
}

const BY_OPERATOR: { readonly [Op in string]?: (verdicts: readonly Verdict[]) => Verdict } = {
  AND: all,
  OR: any,
  NOT: (verdicts) => not(any(verdicts)),
}

function not(verdict: Verdict): Verdict {
  return typeof verdict === 'boolean' ? !verdict : verdict
}

function all(verdicts: readonly Verdict[]): Verdict {
  return combine(verdicts, false)
}

function any(verdicts: readonly Verdict[]): Verdict {
  return combine(verdicts, true)
}

/** Returns `decisive` if it is one of the verdicts; otherwise what remains undecided. */
function combine(verdicts: readonly Verdict[], decisive: boolean): Verdict {
  if (verdicts.includes(decisive)) return decisive
  const unknown = verdicts.flatMap((verdict) => (typeof verdict === 'boolean' ? [] : verdict))
  return unknown.length > 0 ? unknown : !decisive
}
