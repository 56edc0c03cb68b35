import { dependenciesOf } from '../evaluation/dependency-graph.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { flagName, segmentName } from '../evaluation/references.ts'
import type { EvaluationContext } from '../model/context.ts'
import { type Incremental, Pace } from '../model/incremental.ts'
import { type CompiledCondition, matchesCondition } from '../operators/condition.ts'

/**
 * Parses the values of all conditions that the results of these flags can depend on, and yields
 * after every few conditions. Without this call, the first evaluation of a flag parses all its
 * values at once.
 */
export function* prepareExplanations(
  flagSet: FlagSet,
  flagKeys: Iterable<string>,
  context: EvaluationContext,
): Incremental<void> {
  const pace = new Pace()
  const names = dependenciesOf(flagSet.dependencies.nodes, Array.from(flagKeys, flagName))
  for (const flag of flagSet.flagsByKey.values()) {
    if (!flag.isActive || !names.has(flagName(flag.key))) continue
    yield* flag.prepare(pace)
    for (const rule of flag.rules) yield* evaluateConditions(rule.conditions, context)
  }
  for (const [id, segment] of flagSet.segments) {
    if (!names.has(segmentName(id))) continue
    yield* segment.prepare(pace)
    yield* evaluateConditions(segment.conditions, context)
  }
}

/** The number of conditions that are evaluated without interruption. */
const CONDITIONS_PER_CHUNK = 4

/** Evaluates the conditions on attributes, so that their values are parsed. */
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
