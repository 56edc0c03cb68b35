import type { CompiledFlag, EvaluationContext, FlagSet } from '@ff/core'
import { ContextEvaluation, type Outcome } from '@ff/core/explain'

/** The outcome of a flag; `undefined` if the flag set does not have the flag. */
export type MaybeOutcome = Outcome | undefined

/** A context by which a report illustrates a transition. */
export interface ImpactExample {
  readonly kind: string
  readonly key: string
  readonly lastSeen: string
}

/** An observed context, with the attributes that it kept. */
export interface ImpactContext extends ImpactExample {
  readonly seenCount: number
  readonly attributes: EvaluationContext
  /**
   * Returns `true` if the context has the real value of the attribute with this reference. Absent if
   * all attributes that the flags read are known.
   */
  readonly isKnown?: ((reference: string) => boolean) | undefined
  /** `true` if the store could not save the context unchanged, so that all results are unknown. */
  readonly isAltered: boolean
}

/** The contexts with the same outcomes in both flag sets. */
export interface Transition {
  readonly before: MaybeOutcome
  readonly after: MaybeOutcome
  contexts: number
  evaluations: number
  /** The most recently seen contexts, the latest first. */
  examples: readonly ImpactExample[]
}

/** The impact of a draft on one flag. */
export interface FlagImpact {
  readonly key: string
  readonly before: CompiledFlag | undefined
  readonly after: CompiledFlag | undefined
  undetermined: number
  readonly transitions: Transition[]
}

interface ImpactOptions {
  readonly published: FlagSet
  readonly draft: FlagSet
  /** The keys of the flags to evaluate. */
  readonly flagKeys: readonly string[]
  /** The time of all evaluations, in epoch milliseconds. */
  readonly now: number
  /** The maximum number of examples of each transition. */
  readonly examples: number
}

/** The impact of a draft on the contexts that were added so far. */
export class Impact {
  readonly flags: readonly FlagImpact[]
  /** The references of the attributes on which undetermined results depend. */
  readonly unknownAttributes = new Set<string>()
  readonly #options: ImpactOptions
  #size = 0
  /** The transitions of each flag by their outcomes. */
  readonly #byOutcomes: readonly Map<MaybeOutcome, Map<MaybeOutcome, Transition>>[]

  constructor(options: ImpactOptions) {
    const { published, draft, flagKeys } = options
    this.#options = options
    this.#byOutcomes = flagKeys.map(() => new Map())
    this.flags = flagKeys.map((key) => ({
      ...{ key, undetermined: 0, transitions: [] },
      before: published.flags.get(key),
      after: draft.flags.get(key),
    }))
  }

  /** The number of transitions of all flags. */
  get size(): number {
    return this.#size
  }

  /** Evaluates all flags for a context. */
  add(context: ImpactContext): void {
    const { now } = this.#options
    const { attributes, isKnown, isAltered } = context
    const options = isKnown === undefined ? { now } : { now, isKnown }
    const published = new ContextEvaluation(this.#options.published, attributes, options)
    const draft = new ContextEvaluation(this.#options.draft, attributes, options)
    for (let at = 0; at < this.flags.length; at += 1) {
      const flag = this.flags[at]
      if (flag === undefined) continue
      const unknown = isKnown === undefined ? [] : unknownReads(flag, published, draft)
      if (isAltered || unknown.length > 0) {
        flag.undetermined += 1
        for (const name of isAltered ? [] : unknown) this.unknownAttributes.add(name)
        continue
      }
      const was = flag.before && published.outcomeOf(flag.before)
      const becomes = flag.after && draft.outcomeOf(flag.after)
      this.#count(this.#transition(at, was, becomes), context)
    }
  }

  #transition(at: number, before: MaybeOutcome, after: MaybeOutcome): Transition {
    const byOutcome = this.#byOutcomes[at]
    const byAfter = byOutcome?.get(before) ?? new Map<MaybeOutcome, Transition>()
    byOutcome?.set(before, byAfter)
    const known = byAfter.get(after)
    if (known !== undefined) return known
    const transition = { before, after, contexts: 0, evaluations: 0, examples: [] }
    byAfter.set(after, transition)
    this.#size += 1
    this.flags[at]?.transitions.push(transition)
    return transition
  }

  #count(transition: Transition, context: ImpactContext): void {
    const { before, after } = transition
    transition.contexts += 1
    transition.evaluations += context.seenCount
    const { examples } = this.#options
    const { kind, key, lastSeen } = context
    const oldest = transition.examples[examples - 1]
    if (before === after || (oldest !== undefined && oldest.lastSeen >= lastSeen)) return
    transition.examples = latest([...transition.examples, { kind, key, lastSeen }], examples)
  }
}

function unknownReads(
  { before, after }: FlagImpact,
  published: ContextEvaluation,
  draft: ContextEvaluation,
): readonly string[] {
  const own = before === undefined ? [] : published.unknownReads(before)
  return after === undefined ? own : [...own, ...draft.unknownReads(after)]
}

/** Returns the most recently seen contexts, the latest first, at most `count`. */
export function latest(
  contexts: readonly ImpactExample[],
  count: number,
): readonly ImpactExample[] {
  return [...contexts]
    .sort((a, b) => Number(a.lastSeen < b.lastSeen) - Number(a.lastSeen > b.lastSeen))
    .slice(0, count)
}
