import { dependenciesOf } from '../evaluation/dependency.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { flagName, segmentName } from '../evaluation/links.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { Parts } from '../model/parts.ts'
import { type CompiledCondition, matchesCondition } from '../operators/condition.ts'

/**
 * Reads, in parts, the values of all conditions that the answers of these flags to a context may
 * depend on. Otherwise they are read when a flag is first evaluated, all at once.
 */
export function* prepareExplanations(
  flagSet: FlagSet,
  flagKeys: Iterable<string>,
  context: EvaluationContext,
): Parts<void> {
  const names = dependenciesOf(flagSet.dependencies.nodes, Array.from(flagKeys, flagName))
  for (const flag of flagSet.flagsByKey.values()) {
    if (!flag.isActive || !names.has(flagName(flag.key))) continue
    for (const rule of flag.rules) yield* judgeInParts(rule.conditions, context)
  }
  for (const [id, segment] of flagSet.segments) {
    if (names.has(segmentName(id))) yield* judgeInParts(segment.conditions, context)
  }
}

/** After how many conditions a part of the work is done. */
const CONDITIONS_A_PART = 4

/** Judges the conditions on attributes, which reads their values. */
function* judgeInParts(
  conditions: readonly CompiledCondition[],
  context: EvaluationContext,
): Parts<void> {
  const scope = { context, isInSegment: () => false, servedVariation: () => undefined }
  for (const [index, condition] of conditions.entries()) {
    if (condition.reference !== undefined) matchesCondition(condition, scope)
    if (index % CONDITIONS_A_PART === 0) yield
  }
}
