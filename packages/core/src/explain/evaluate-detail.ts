import { MAX_DEPENDENCY_HOPS } from '../evaluation/dependency-graph.ts'
import type { EvaluationDetail } from '../evaluation/detail.ts'
import { evaluateFlag } from '../evaluation/evaluate.ts'
import type { CompiledFlag } from '../evaluation/flag.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import type { CompiledRule } from '../evaluation/rule.ts'
import { findContextKey } from '../model/attribute.ts'
import { compareCodePoints } from '../model/code-point.ts'
import { type EvaluationContext, isEmptyContext } from '../model/context.ts'
import { textOf } from '../model/quote.ts'
import type { CompiledCondition } from '../operators/condition.ts'

/** `EvaluationDetail`, and what the answer rests on. */
export interface FullDetail extends EvaluationDetail {
  /** The version of the flag set. */
  readonly version: number
  /**
   * The keys of the flags because of which a prerequisite is not met: the flag's own, then that
   * flag's, and so on. Empty when none is unmet.
   */
  readonly prerequisiteChain: readonly string[]
  /**
   * The references, by code point, of the attributes that were asked for, missing ones included:
   * by the targets and rules up to the one that serves, and by the segments and flags that those
   * ask about. Contexts with the same kinds, keys and these attributes get the same answer.
   */
  readonly attributesRead: readonly string[]
}

/**
 * Evaluates one flag at `now` (epoch milliseconds) and gathers what its answer rests on. Never
 * throws. Costs several times what `evaluateFlag` does.
 */
export function evaluateDetail(
  flagSet: FlagSet,
  flagKey: string,
  context: EvaluationContext,
  now: number,
): FullDetail {
  const details = new Details(flagSet, context, now)
  const detail = details.of(flagKey)
  return {
    ...detail,
    version: flagSet.version,
    prerequisiteChain: details.chainFrom(detail),
    attributesRead: details.attributesReadBy(flagSet.flags.get(flagKey)),
  }
}

/** The details of flags for one context at one point in time; each flag is evaluated once. */
export class Details {
  readonly #flagSet: FlagSet
  readonly #context: EvaluationContext
  readonly #now: number
  readonly #known = new Map<string, EvaluationDetail>()

  constructor(flagSet: FlagSet, context: EvaluationContext, now: number) {
    this.#flagSet = flagSet
    this.#context = context ?? {}
    this.#now = now
  }

  of(flagKey: string): EvaluationDetail {
    const known = this.#known.get(flagKey)
    if (known !== undefined) return known
    const detail = evaluateFlag(this.#flagSet, flagKey, this.#context, this.#now)
    this.#known.set(flagKey, detail)
    return detail
  }

  /** `FullDetail.prerequisiteChain` */
  chainFrom({ prerequisiteKey }: EvaluationDetail): readonly string[] {
    const chain: string[] = []
    let key = prerequisiteKey
    while (key !== undefined && chain.length < MAX_DEPENDENCY_HOPS) {
      chain.push(key)
      key = this.of(key).prerequisiteKey
    }
    return chain
  }

  /** `FullDetail.attributesRead` */
  attributesReadBy(flag: CompiledFlag | undefined): readonly string[] {
    const readings = new Readings(this.#flagSet, this.#context, this)
    readings.addFlag(flag)
    return [...readings.attributes].sort(compareCodePoints)
  }
}

/** Up to and with the one that served, and all when none did. */
function triedRules({ rules }: CompiledFlag, ruleId: string | undefined): readonly CompiledRule[] {
  if (ruleId === undefined) return rules
  // The last of that id: in a broken definition several rules may have it.
  return rules.slice(0, rules.map(({ definition }) => definition.id).lastIndexOf(ruleId) + 1)
}

/** Gathers `FullDetail.attributesRead`. */
class Readings {
  readonly attributes = new Set<string>()
  readonly #flagSet: FlagSet
  readonly #context: EvaluationContext
  readonly #details: Details
  readonly #added = new Set<unknown>()

  constructor(flagSet: FlagSet, context: EvaluationContext, details: Details) {
    this.#flagSet = flagSet
    this.#context = context
    this.#details = details
  }

  addFlag(flag: CompiledFlag | undefined): void {
    if (flag === undefined || !this.#isNew(flag) || !flag.definition.isActive) return
    // From here on no flag or segment can lead back to itself.
    if (this.#flagSet.malformed.has(flag.key)) return
    const { prerequisiteKey, ruleId } = this.#details.of(flag.key)
    for (const { flagId } of flag.prerequisites) {
      const prerequisite = this.#flagSet.flagsById.get(flagId)
      this.addFlag(prerequisite)
      if (prerequisite?.key === prerequisiteKey) return
    }
    if (isEmptyContext(this.#context) || this.#addTargets(flag)) return
    for (const { conditions, definition, serve } of triedRules(flag, ruleId)) {
      this.#addConditions(conditions)
      if (definition.segmentId !== null) this.#addSegment(definition.segmentId)
      if (serve.kind === 'rollout') this.attributes.add(serve.rollout.bucketBy.name)
    }
  }

  /** True: one of them serves. */
  #addTargets({ targets }: CompiledFlag): boolean {
    return targets.some(({ kind, keys }) => {
      this.attributes.add(`${textOf(kind)}.key`)
      const key = findContextKey(this.#context, kind)
      return key !== undefined && keys.has(key)
    })
  }

  #addConditions(conditions: readonly CompiledCondition[]): void {
    for (const { reference, segmentIds, flagKey } of conditions) {
      if (reference !== undefined) this.attributes.add(reference.name)
      for (const id of segmentIds) this.#addSegment(id)
      if (flagKey !== undefined) this.addFlag(this.#flagSet.flagsByKey.get(flagKey))
    }
  }

  #addSegment(id: string): void {
    const segment = this.#flagSet.segments.get(id)
    if (segment === undefined || !this.#isNew(segment)) return
    const { conditions, included, excluded, keyAttribute } = segment
    if (included.size > 0 || excluded.size > 0) this.attributes.add(keyAttribute.name)
    this.#addConditions(conditions)
  }

  #isNew(part: unknown): boolean {
    const isNew = !this.#added.has(part)
    this.#added.add(part)
    return isNew
  }
}
