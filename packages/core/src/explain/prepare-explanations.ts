import { dependenciesOf } from '../evaluation/dependency-graph.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { flagName, segmentName } from '../evaluation/references.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { Incremental } from '../model/incremental.ts'
import { type CompiledCondition, matchesCondition } from '../operators/condition.ts'

/**
 * Reads, incrementally, the values of all conditions that the results of these flags for a context
 * may depend on. Otherwise they are read all at once, when a flag is first evaluated.
 */
export function* prepareExplanations(
  flagSet: FlagSet,
  flagKeys: Iterable<string>,
  context: EvaluationContext,
): Incremental<void> {
  const names = dependenciesOf(flagSet.dependencies.nodes, Array.from(flagKeys, flagName))
  for (const flag of flagSet.flagsByKey.values()) {
    if (!flag.isActive || !names.has(flagName(flag.key))) continue
    for (const rule of flag.rules) yield* evaluateConditions(rule.conditions, context)
  }
  for (const [id, segment] of flagSet.segments) {
    if (names.has(segmentName(id))) yield* evaluateConditions(segment.conditions, context)
  }
}

/** A chunk of work ends after this many conditions. */
const CONDITIONS_PER_CHUNK = 4

/** Evaluates the conditions on attributes, which reads their values. */
function* evaluateConditions(
  conditions: readonly CompiledCondition[],
  context: EvaluationContext,
): Incremental<void> {
  const scope = { context, isInSegment: () => false, servedVariation: () => undefined }
  for (const [index, condition] of conditions.entries()) {
    if (condition.reference !== undefined) matchesCondition(condition, scope)
    if (index % CONDITIONS_PER_CHUNK === 0) yield
  }
}
